"""How options of programs are spelled, and which stand before a subcommand."""

from __future__ import annotations

from functools import cache

from ...runtime.named_tuples import NamedTuple

__all__ = [
    "GLOBAL_OPTIONS",
    "SPELLINGS",
    "Options",
    "options_of",
    "spellings_of",
    "words",
]


class Options(NamedTuple):
    """The options of a program: those without and those with a value, letters and long names alike."""

    flags: frozenset[str]
    valued: frozenset[str]


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


@cache
def options_of(spec: str) -> Options:
    """Return the options of a getopt-like text."""
    letters, _, names = spec.partition(" ")
    valued = {letter for at, letter in enumerate(letters) if letters[at + 1 : at + 2] == ":"}
    valued |= {name[:-1] for name in names.split() if name.endswith("=")}
    flags = {letter for letter in letters if letter != ":"} | {name for name in names.split() if not name.endswith("=")}
    return Options(frozenset(flags - valued), frozenset(valued))


GLOBAL_OPTIONS: dict[str, str] = {
    "git": (
        "C:c:pPhv git-dir= work-tree= namespace= exec-path= super-prefix= config-env= list-cmds= attr-source= "
        "paginate no-pager bare no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs "
        "icase-pathspecs no-optional-locks html-path man-path info-path version help"
    ),
    "docker": "c:DH:l:v config= context= debug host= log-level= tls tlscacert= tlscert= tlskey= tlsverify version help",
    "podman": "c:r connection= log-level= identity= remote url= root= runroot= storage-driver= storage-opt=",
    "docker-compose": (
        "f:p:H:v file= project-name= profile= env-file= project-directory= host= verbose ansi= no-ansi "
        "compatibility context= parallel="
    ),
    "kubectl": (
        "n:s:v: namespace= context= cluster= kubeconfig= user= server= token= as= as-group= request-timeout= "
        "insecure-skip-tls-verify certificate-authority= client-key= client-certificate= cache-dir= "
        "match-server-version username= password="
    ),
    "helm": "n: namespace= kube-context= kubeconfig= debug registry-config= repository-config= repository-cache=",
    "npm": (
        "gsdC:w: prefix= registry= userconfig= globalconfig= cache= loglevel= silent quiet verbose global "
        "workspace= workspaces no-workspaces include-workspace-root production legacy-peer-deps force otp= "
        "tag= access= scope= dry-run json long yes"
    ),
    "pnpm": (
        "rC:wF: recursive dir= filter= workspace-root silent loglevel= stream parallel use-stderr color "
        "no-color registry= store-dir="
    ),
    "yarn": "s cwd= silent verbose registry= cache-folder= modules-folder= no-progress offline ignore-engines json",
    "pip": (
        "qvh quiet verbose isolated require-virtualenv python= log= proxy= retries= timeout= exists-action= "
        "trusted-host= cert= client-cert= cache-dir= no-cache-dir disable-pip-version-check no-color "
        "no-python-version-warning use-feature= use-deprecated= no-input debug"
    ),
    "pip3": (
        "qvh quiet verbose isolated require-virtualenv python= log= proxy= retries= timeout= exists-action= "
        "trusted-host= cert= client-cert= cache-dir= no-cache-dir disable-pip-version-check no-color "
        "use-feature= no-input debug"
    ),
    "cargo": "qvVZ:C: quiet verbose color= config= locked offline frozen list manifest-path=",
    "go": "C:",
    "gh": "R: repo= hostname= help version",
    "aws": (
        "region= profile= output= endpoint-url= query= no-verify-ssl no-paginate debug color= ca-bundle= "
        "cli-read-timeout= cli-connect-timeout= no-sign-request no-cli-pager"
    ),
    "gcloud": "q project= account= configuration= quiet verbosity= format= impersonate-service-account= zone= region=",
    "terraform": " chdir= version help",
    "systemctl": (
        "qaln:o:H:M:t:p: user system quiet no-pager no-block now force host= machine= type= property= all "
        "full lines= root= runtime global"
    ),
    "apt-get": (
        "qyfdsmuVht:c:o:a: quiet yes assume-yes no-install-recommends option= target-release= config-file= "
        "allow-unauthenticated fix-broken simulate dry-run download-only fix-missing reinstall"
    ),
    "apt": (
        "qyfdsmuVht:c:o:a: quiet yes assume-yes no-install-recommends option= target-release= config-file= "
        "allow-downgrades fix-broken"
    ),
    "yum": "yqvc:d:e: assumeyes quiet enablerepo= disablerepo= exclude= installroot= nogpgcheck releasever= setopt=",
    "dnf": (
        "yqvc:d:e: assumeyes quiet enablerepo= disablerepo= exclude= installroot= nogpgcheck refresh "
        "releasever= setopt= best allowerasing"
    ),
    "brew": "dqv debug quiet verbose",
    "svn": "q username= password= no-auth-cache non-interactive trust-server-cert config-dir= config-option= quiet",
    "hg": "R:qvyn repository= cwd= config= noninteractive quiet verbose debug",
    "composer": "d:nqv working-dir= no-interaction quiet verbose no-plugins no-scripts profile no-cache ansi no-ansi",
    "poetry": "C:P:qvn directory= project= quiet verbose no-interaction no-ansi no-plugins no-cache",
    "make": "",
    "bundle": "V verbose no-color retry=",
    "gem": "",
    "conda": "hV",
    "vagrant": "",
    "heroku": "a: app=",
    "dotnet": "d diagnostics",
    "snap": "",
    "flatpak": "v user system installation=",
    "gsutil": "mqDo:h:u:",
    "az": "o: output= subscription= query= verbose debug only-show-errors",
    "ip": "46Bbsdohj n: netns= family= oneline batch= color json pretty",
}
"""Options before a program's subcommand; the program is judged as if they were not there."""


SPELLINGS: dict[str, str] = {
    "rm": "r,R,recursive f,force i I,interactive v,verbose d,dir one-file-system no-preserve-root preserve-root",
    "cp": (
        "r,R,recursive a,archive f,force i,interactive n,no-clobber p v,verbose u,update L P d T "
        "t=,target-directory= S=,suffix="
    ),
    "mv": "f,force i,interactive n,no-clobber v,verbose u,update T t=,target-directory= S=,suffix=",
    "chmod": "R,recursive f,silent,quiet v,verbose c,changes reference=",
    "chown": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference= from=",
    "chgrp": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference=",
    "mkdir": "p,parents m=,mode= v,verbose",
    "rmdir": "p,parents v,verbose",
    "ln": "s,symbolic f,force n,no-dereference v,verbose r,relative T",
    "ls": "a,all A,almost-all l h,human-readable r,reverse R,recursive t S 1 d,directory i,inode s,size",
    "kill": "s=,signal= l,list n= 9,KILL,SIGKILL 15,TERM,SIGTERM 1,HUP,SIGHUP",
    "shred": "u v,verbose z,zero f,force n=,iterations=",
    "git push": (
        "f,force d,delete u,set-upstream n,dry-run q,quiet v,verbose all mirror tags follow-tags prune "
        "no-verify force-with-lease o=,push-option= repo= 4 6"
    ),
    "git reset": "hard soft mixed merge keep q,quiet p,patch N",
    "git clean": "f,force d x X n,dry-run q,quiet i,interactive e=,exclude=",
    "git checkout": "f,force b= B= q,quiet p,patch t,track detach orphan= m,merge theirs ours",
    "git switch": "f,force,discard-changes c=,create= C=,force-create= d,detach",
    "git branch": "D d,delete f,force m,move M a,all r,remotes v,verbose",
    "git commit": "a,all m=,message= n,no-verify amend s,signoff q,quiet v,verbose F=,file= C= c= no-edit",
    "git rm": "f,force r cached n,dry-run q,quiet",
    "git tag": "d,delete f,force a,annotate m=,message= s,sign l,list",
    "git stash": "u,include-untracked a,all k,keep-index",
    "docker rm": "f,force v,volumes l,link",
    "docker rmi": "f,force no-prune",
    "docker system prune": "a,all f,force volumes filter=",
    "kubectl delete": "f=,filename= l=,selector= A,all-namespaces all force n=,namespace= now grace-period=",
    "npm install": "g,global D,save-dev S,save E,save-exact O,save-optional f,force",
    "npm publish": "tag= access= dry-run otp= f,force",
    "pip install": (
        "U,upgrade e=,editable= r=,requirement= t=,target= user q,quiet pre no-deps force-reinstall "
        "i=,index-url= c=,constraint="
    ),
    "curl": (
        "f,fail s,silent S,show-error L,location o=,output= O,remote-name X=,request= H=,header= d=,data= "
        "k,insecure v,verbose u=,user= I,head F=,form= T=,upload-file= x=,proxy= A=,user-agent= e=,referer= "
        "b=,cookie= c=,cookie-jar= m=,max-time= w=,write-out= i,include g,globoff N,no-buffer 4 6 G,get C="
    ),
    "wget": (
        "q,quiet O=,output-document= P=,directory-prefix= c,continue r,recursive N,timestamping "
        "no-check-certificate nc,no-clobber"
    ),
    "rsync": (
        "a,archive v,verbose z,compress r,recursive n,dry-run delete e=,rsh= P h u l p t g o D exclude= "
        "include= progress"
    ),
    "tar": "x,extract,get c,create t,list f=,file= z,gzip j,bzip2 J,xz v,verbose C=,directory= p",
    "apt-get install": "y,yes,assume-yes q,quiet f,fix-broken no-install-recommends",
    "apt install": "y,yes,assume-yes q,quiet f,fix-broken no-install-recommends",
    "terraform apply": "auto-approve var= var-file= target=",
    "terraform destroy": "auto-approve var= var-file= target=",
    "systemctl stop": "now f,force",
    "crontab": "r e l i u=",
    "pkill": "f,full 9,KILL,SIGKILL u= x,exact",
    "killall": "9,KILL,SIGKILL q,quiet u= w,wait",
}
"""Options that a rule names, each with all its spellings. A key is a program and its subcommand."""


@cache
def spellings_of(key: str) -> tuple[dict[str, str], frozenset[str]] | None:
    """Return for each spelling of an option its first one, and those with a value; None if the program has no table."""
    spec = SPELLINGS.get(key)
    if spec is None:
        return None
    first, valued = dict[str, str](), set[str]()
    for option in spec.split():
        names = [name.removesuffix("=") for name in option.split(",")]
        for name in names:
            first[name] = names[0]
        if "=" in option:
            valued.update(names)
    return first, frozenset(valued)
