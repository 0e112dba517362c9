"""Programs that stop the machine, its services, processes and network."""

from __future__ import annotations

from collections.abc import Iterator

from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]


def _kill(arguments: Arguments) -> Iterator[Found]:
    words = list(arguments.words)
    if words[:1] and words[0] in ("-l", "-L", "--list", "-0", "--table"):
        return
    if words[:1] == ["-s"] or words[:1] == ["-n"] or words[:1] == ["--signal"]:
        if words[1:2] == ["0"]:
            return
        words = words[2:]
    elif (words[:1] and words[0].startswith("-") and words[0] not in ("--", "-1")) or (
        words[:1] == ["-1"] and len(words) > 1
    ):
        words = words[1:]
    for word in words:
        if word == "--":
            continue
        if word in ("-1", "1", "0"):
            yield Found("kill-many", word)
        elif not word.startswith("%"):
            yield Found("kill", word)


_WIDE = "node|nodejs|python|python3|python*|ruby|java|bash|zsh|sh|docker|dockerd|containerd|sshd|systemd|init|postgres"
_WIDE += "|mysqld|nginx|Xorg|gnome-*|kde*|Finder|Dock|WindowServer|chrome|Chrome|code|.|.[*]|[*]"


PROGRAMS = {
    # Power.
    "shutdown": Program(
        (Row("", ("-c", "--show", "-k")), Row("power")),
        options="c show h,halt P,poweroff r,reboot k H no-wall",
    ),
    "reboot": Program((Row("power"),), aka="halt poweroff"),
    "init": Program((Row("power", "1:0|1|6|s|S"),), aka="telinit"),
    "osascript": Program((Row("power", "-e=*to?shut?down*|*to?restart*|*to?log?out*|*to?sleep*"),), options="e= l="),
    "pmset": Program((Row("power", "1:sleepnow|*:schedule"),)),
    # Services.
    "systemctl": Program(
        (
            Row(
                "power",
                (),
                "poweroff|reboot|halt|suspend|hibernate|hybrid-sleep|kexec|rescue|emergency|isolate|exit|soft-reboot",
            ),
            Row("stop-service:each", (), "stop|disable|mask|kill|reset-failed"),
            Row(
                "start-service:each",
                (),
                "start|restart|reload|try-restart|reload-or-restart|unmask|daemon-reload|enable",
            ),
        ),
        globals="user system q,quiet no-pager now force f H=,host= M=,machine= t=,type= p=,property= a,all "
        "root= global "
        "runtime l,full no-block no-ask-password s=,signal= kill-who=",
    ),
    "service": Program(
        (
            Row("stop-service:first", "*:stop|disable|shutdown|remove|delete"),
            Row("", ("*:status", "--status-all")),
            Row("start-service:first", "#>=2"),
        ),
        aka="rc-service rc-update initctl invoke-rc.d chkconfig update-rc.d",
    ),
    "sv": Program(
        (
            Row("stop-service:notfirst", "1:stop|down|shutdown|remove|force-stop|exit|delete"),
            Row("", "1:status|tail|pid|avail"),
            Row("start-service:notfirst"),
        ),
        aka="supervisorctl pm2 monit",
    ),
    "launchctl": Program(
        (
            Row("stop-service:each", (), "unload|bootout|disable|remove|stop|kill|reboot"),
            Row("start-service:each", (), "load|bootstrap|enable|start|kickstart"),
        )
    ),
    # Processes.
    "kill": Program(effects=_kill),
    "pkill": Program(
        (
            Row("", ("-l", "-0", "--signal=0", "-L")),
            Row("kill-many:each", ("-u", "-U", "-v", "-G", "-g", "-t")),
            Row("kill:all", "-f"),
            Row("kill-many:all", f"*:{_WIDE}"),
            Row("kill:all", "#>=1"),
        ),
        options="f,full x,exact n,newest o,oldest u=,euid= U=,uid= G=,group= g=,pgroup= P=,parent= "
        "t=,terminal= s= signal= "
        "v,inverse i l e",
        aka="skill",
    ),
    "killall": Program(
        (
            Row("", ("-l", "-0", "-V", "-s=0 !-9")),
            Row("kill-many:each", ("-u", "-r", "#>=3", f"*:{_WIDE}")),
            Row("kill:all", "#>=1"),
        ),
        options="u=,user= s=,signal= e i q r,regexp g v w l,list o= y= Z= m d",
        aka="killall5 taskkill",
    ),
    "fuser": Program((Row("kill:all", "-k"),), options="k,kill i m= n= u v s a l 4 6"),
    # Firewalls and network.
    "iptables": Program(
        (
            Row("", ("-L", "-S", "-C", "-V", "-h")),
            Row("firewall-off", ("-F", "-X", "-Z", "*:ACCEPT -P")),
            Row("network-change"),
        ),
        options="L,list S,list-rules F,flush X,delete-chain Z,zero P=,policy= A=,append= D=,delete= "
        "I=,insert= C=,check= "
        "t=,table= j=,jump= p=,protocol= s=,source= d=,destination= i=,in-interface= o=,out-interface= "
        "dport= sport= n v "
        "line-numbers w m=,match= R= N=",
        aka="ip6tables iptables-legacy iptables-nft ebtables arptables",
    ),
    "nft": Program(
        (
            Row("", (), "list|monitor|describe"),
            Row("firewall-off", (), "flush|delete|destroy|reset"),
            Row("network-change"),
        ),
        globals="a n c f= s j",
    ),
    "ufw": Program(
        (
            Row("", (), "status|show|version|app list|app info"),
            Row("firewall-off", (), "disable|reset"),
            Row("network-change"),
        ),
        globals="f,force dry-run",
    ),
    "firewall-cmd": Program(
        (Row("firewall-off", ("--panic-on", "--complete-reload", "--set-default-zone=trusted")), Row("")),
        options="panic-on complete-reload set-default-zone=",
    ),
    "pfctl": Program((Row("firewall-off", ("-d", "-F")), Row("")), options="d e F= f= s= n a="),
    "ipset": Program((Row("firewall-off", (), "flush|destroy"), Row(""))),
    "setenforce": Program((Row("firewall-off", "1:0|[Pp]ermissive"),)),
    "csrutil": Program((Row("firewall-off", (), "disable"),), aka="spctl aa-teardown"),
    "netsh": Program((Row("firewall-off", "*:off|reset"),)),
    "ip": Program(
        (
            Row("network-down:each", "*:down", "link set|l set|link s"),
            Row(
                "network-down:each",
                (),
                "link delete|link del|route del|route delete|route flush|addr flush|address flush|addr del|a del|"
                "a flush|r del|r flush|rule del|rule flush|neigh flush",
            ),
            Row(
                "network-change",
                (),
                "link set|link add|addr add|a add|route add|route replace|route change|rule add|"
                "netns add|netns del|netns delete",
            ),
        ),
        globals="4 6 s,stats j,json p,pretty d,details br,brief o c=? n=,netns= b= f= h",
    ),
    "ifconfig": Program((Row("network-down:first", "*:down|delete|-alias"), Row("network-change:first", "#>=2"))),
    "ifdown": Program((Row("network-down:each"),)),
    "route": Program(
        (Row("network-down:each", "*:del|delete|flush"), Row("network-change", "*:add|change")),
    ),
    "nmcli": Program(
        (
            Row("network-down:each", ("*:off|down|delete|del|disconnect",)),
            Row("network-change", ("*:up|add|modify|on|connect",)),
        ),
    ),
    "networksetup": Program(
        (Row("network-down", ("*:-set*off|off|-remove*|-delete*",)), Row("network-change", "*:-set*"))
    ),
    "netplan": Program((Row("network-change", (), "apply|set"),), aka="dhclient hostnamectl"),
    # What is lost for the person at the machine.
    "crontab": Program((Row("lose-crontab", "-r"),), options="r e l i u= s T"),
    "history": Program((Row("lose-history", ("-c", "-d", "-p !#>=1")),), options="c d= a n r w p s"),
    "fc": Program((Row("lose-history", "-p"),), options="l n r e= s p"),
    "sysctl": Program(
        (Row("", ("-a", "-n", "-N")), Row("kernel-change:each", ("-w", "-p", "*:*=*"))),
        options="a,all w,write p,load n,values N,names q e system",
    ),
    "modprobe": Program(
        (Row("", ("-n", "-l", "-D")), Row("kernel-change:each", "#>=1")),
        options="n,dry-run r,remove D l v",
        aka="insmod rmmod kexec",
    ),
    # Packages of the system and users.
    "apt-get": Program(
        (
            Row("", ("-s", "--dry-run")),
            Row("remove-packages:each", (), "remove|purge|autoremove|autopurge|full-upgrade --purge"),
        ),
        options="y,yes,assume-yes q s,simulate,dry-run,just-print purge auto-remove f m "
        "allow-remove-essential o= c= t=",
        aka="apt aptitude",
    ),
    "dnf": Program(
        (Row("remove-packages:each", (), "remove|erase|autoremove|rm"),),
        options="y,assumeyes q v",
        aka="yum zypper microdnf tdnf",
    ),
    "pacman": Program(
        (Row("remove-packages:all", "-R"),), options="R,remove S,sync Q,query s n c u d noconfirm", aka="yay paru"
    ),
    "rpm": Program((Row("remove-packages:all", "-e"),), options="e,erase q i U v h nodeps", aka=""),
    "dpkg": Program((Row("remove-packages:all", ("-r", "-P")),), options="r,remove P,purge i l L s"),
    "apk": Program((Row("remove-packages:each", (), "del"),)),
    "snap": Program((Row("remove-packages:each", (), "remove|uninstall"),), aka="flatpak emerge xbps-remove"),
    "userdel": Program((Row("change-users:each"),), options="r,remove f,force Z R=", aka="deluser groupdel delgroup"),
    "passwd": Program(
        (Row("", "-S"), Row("change-users:each")),
        options="S,status d,delete l,lock u,unlock e,expire",
        aka="chpasswd chsh chfn vipw",
    ),
}
