#!/bin/sh
# Tell a person who looks elsewhere: on the desktop, else with a bell; and in a chat if NOTIFY_WEBHOOK has its address.
set -u

event=$(cat)
[ -z "${INTERPOSE_DOCTOR:-}" ] || exit 0 # only a look at the hooks, nothing has happened

case ${INTERPOSE_HOOK_TYPE:-} in
    PermissionRequest) said="has a question about ${INTERPOSE_TOOL_NAME:-a tool}" ;;
    Stop) said="has finished" ;;
    *)
        said=$(printf '%s' "$event" | sed -n 's/.*"message": *"\([^"\\]*\)".*/\1/p')
        said="says: ${said:-look here}"
        ;;
esac
# Letters that mean nothing to a terminal, to JSON or to markup.
text=$(printf 'The agent in %s %s' "$(basename "$PWD")" "$said" | tr -cd '[:alnum:] .,:?!_-' | cut -c 1-200)

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v notify-send >/dev/null; then
    notify-send -- "Agent" "$text"
elif command -v osascript >/dev/null; then
    osascript -e 'on run argv' -e 'display notification (item 1 of argv) with title "Agent"' -e 'end run' "$text" >/dev/null
else
    # Where there is no terminal either, nobody would hear it.
    (printf '\a' >/dev/tty) 2>/dev/null || true
fi

if [ -n "${NOTIFY_WEBHOOK:-}" ]; then
    # The address is a secret: on standard input, other users cannot read it in the list of processes.
    printf 'url = "%s"\n' "$NOTIFY_WEBHOOK" |
        curl --silent --show-error --fail --max-time 10 --output /dev/null --config - \
            --header 'Content-Type: application/json' --data "{\"text\": \"$text\"}"
fi
