#!/bin/sh
# Keep an agent going while the tests fail. Exit status 2 keeps it going, and the agent reads standard error.
set -u

case $(cat) in # it was kept going once already: it may stop
    *'"stop_hook_active":true'* | *'"stop_hook_active": true'*) exit 0 ;;
esac
[ -n "${TESTS:-}" ] && [ -z "${INTERPOSE_DOCTOR:-}" ] || exit 0 # interpose doctor runs the hook: no agent wants to stop

output=$(sh -c "$TESTS" 2>&1 </dev/null) && exit 0
{
    echo "The tests fail ($TESTS). Mend what is broken, then stop:"
    printf '%s\n' "$output" | tail -n 40
} >&2
exit 2
