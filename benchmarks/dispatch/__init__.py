"""What firing an event costs, with no hook, one, ten, a thousand; and what importing the package costs."""
