import unittest

from app import add


class Adding(unittest.TestCase):
    def test_two_and_two(self):
        self.assertEqual(add(2, 2), 4)
