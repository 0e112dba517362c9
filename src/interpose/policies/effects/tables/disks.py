"""Programs that write to, format or partition disks and volumes."""

from ..rows import Program, Row

__all__ = ["PROGRAMS"]

PROGRAMS = {
    "blkdiscard": Program((Row("format-disk:all", "#>=1"),)),
    "wipefs": Program(
        (Row("", "-n"), Row("format-disk:all", ("-a", "-o"))), options="a,all n,no-act o= f,force t= p J"
    ),
}
