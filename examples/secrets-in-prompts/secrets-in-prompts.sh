#!/bin/sh
# Deny a prompt that has a secret in it. The event is one line of JSON on standard input, in which keys are not escaped.
set -u

# A key begins a word. In JSON, that can be right after the \n of a new line.
begin='(^|[^0-9A-Za-z_]|\\[nrt])'

found=$(LC_ALL=C grep -Eo \
    -e "$begin"'A(KIA|SIA)[0-9A-Z]{16}' \
    -e "$begin"'gh[oprsu]_[0-9A-Za-z]{36}' \
    -e "$begin"'github_pat_[0-9A-Za-z_]{50}' \
    -e "$begin"'glpat-[0-9A-Za-z_-]{20}' \
    -e "$begin"'npm_[0-9A-Za-z]{36}' \
    -e "$begin"'pypi-[0-9A-Za-z_-]{50}' \
    -e "$begin"'sk-ant-[0-9A-Za-z_-]{24}' \
    -e "$begin"'sk-[0-9A-Za-z]{32}' \
    -e "$begin"'sk-(admin|proj|svcacct)-[0-9A-Za-z_-]{32}' \
    -e "$begin"'[rs]k_live_[0-9A-Za-z]{24}' \
    -e "$begin"'xox[abeprs]-[0-9A-Za-z-]{20}' \
    -e "$begin"'AIza[0-9A-Za-z_-]{35}' \
    -e "$begin"'eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{20}' \
    -e '-----BEGIN ([A-Z]+ )*PRIVATE KEY')

case $? in
    0) ;;
    1) exit 0 ;; # nothing was found
    *) exit 1 ;; # grep failed, so this hook fails
esac

# The first characters show the kind of secret, and are not secret.
kind=$(printf '%s\n' "$found" | sed -n '1 { s/^\\[nrt]//; s/^[^0-9A-Za-z-]//; p; }' | cut -c 1-6)
echo "This prompt has a secret in it ($kind…), and was not sent. Take it out; if it has been sent before, replace it." >&2
exit 2
