#!/bin/sh
# Notify a person on the desktop, else with a bell, and in a chat if NOTIFY_WEBHOOK is set to its URL.
set -u

event=$(cat)
[ -z "${INTERPOSE_DOCTOR:-}" ] || exit 0 # interpose doctor runs the hook: nothing has happened

case ${INTERPOSE_HOOK_TYPE:-} in
    PermissionRequest) said="has a question about ${INTERPOSE_TOOL_NAME:-a tool}" ;;
    Stop) said="has finished" ;;
    *)
        said=$(printf '%s' "$event" | sed -n 's/.*"message": *"\([^"\\]*\)".*/\1/p')
        said="says: ${said:-look here}"
        ;;
esac
# Keep only characters without a meaning in terminals, JSON or markup.
text=$(printf 'The agent in %s %s' "$(basename "$PWD")" "$said" | tr -cd '[:alnum:] .,:?!_-' | cut -c 1-200)

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v notify-send >/dev/null; then
    notify-send -- "Agent" "$text"
elif command -v osascript >/dev/null; then
    osascript -e 'on run argv' -e 'display notification (item 1 of argv) with title "Agent"' -e 'end run' "$text" >/dev/null
else
    # Without a terminal there is no bell, and that is no error.
    (printf '\a' >/dev/tty) 2>/dev/null || true
fi

if [ -n "${NOTIFY_WEBHOOK:-}" ]; then
    # The URL is a secret. It goes through standard input, so that other users cannot read it in the list of processes.
    printf 'url = "%s"\n' "$NOTIFY_WEBHOOK" |
        curl --silent --show-error --fail --max-time 10 --output /dev/null --config - \
            --header 'Content-Type: application/json' --data "{\"text\": \"$text\"}"
fi
