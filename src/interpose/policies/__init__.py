"""Rules that people switch on, each with its parameters and its cases."""

from .call import Call
from .effects import Effect
from .hook import PolicyHook
from .policy import Objection, Policy
from .reading import PolicyUse, read_policies, read_policy
from .table import GROUPS, POLICIES, RECOMMENDED, find_policy

__all__ = [
    "GROUPS",
    "POLICIES",
    "RECOMMENDED",
    "Call",
    "Effect",
    "Objection",
    "Policy",
    "PolicyHook",
    "PolicyUse",
    "find_policy",
    "read_policies",
    "read_policy",
]
