"""Interpreters that read files line by line: ``perl -ne CODE FILE``. Their code is read elsewhere."""

from ..rows import Program, Row

__all__ = ["PROGRAMS"]

PROGRAMS = {
    "perl": Program(
        (Row("read-files:all", ("-n !-i", "-p !-i")),), options="i=? p n e= E= w l=? 0=? a F= M= m= I= s u U c"
    ),
    "node": Program(
        (
            Row("run-downloaded:value:import", "--import=http*", also=True),
            Row("run-downloaded:value:loader", "--loader=http*"),
        ),
        options="import= loader=,experimental-loader= r=,require= e=,eval= p=?,print=?",
        aka="nodejs bun tsx",
    ),
    "ruby": Program((Row("read-files:all", ("-n !-i", "-p !-i")),), options="i=? p n e= r= I= l a F= s w"),
}
