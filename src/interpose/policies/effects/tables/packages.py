"""Programs that install and publish packages: where packages come from, what is published."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ....runtime.regex import regex
from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]

Reads = Callable[[Arguments], Iterator[Found]]

_GIT = regex(r"(?:git|hg|svn|bzr)\+|git://|git@|ssh://|(?:github|gitlab|bitbucket|gist|codeberg):|git::", re.IGNORECASE)
_URL = regex(r"https?://|ftp://|http:|https:", re.IGNORECASE)
_REPOSITORY = regex(r"[\w.-]+/[\w.-]+(?:#.*)?")
_PACKAGE = regex(r"@?[A-Za-z][\w.-]*(?:/[\w.-]+)?")
_PROJECT_FILES = (".", "./", "../", "/", "~", "file:", "link:", "workspace:", "portal:")


def _sort(word: str, *, short: bool = False) -> str:
    """Return how a package is named: ``git``, ``url``, or nothing if it is a name in the registry or a local file."""
    found = word.partition("@")[2].strip() if re.match(r"[\w.\[\],-]+\s*@\s*(?:git|https?|ssh|hg)", word) else word
    found = re.sub(r"^@?[\w./-]+@(?=(?:git|https?|ssh|github|gitlab)\S*:)", "", found)  # npm: name@github:a/b
    if found.startswith(_PROJECT_FILES):
        return ""
    if _GIT.match(found) or (_URL.match(found) and found.partition("#")[0].endswith(".git")):
        return "git"
    if _URL.match(found):
        return "url"
    return "git" if short and _REPOSITORY.fullmatch(found) else ""


def _installs(
    subs: str, *, index: str = "", links: str = "", everywhere: str = "", unsigned: str = "", git: str = "",
    short: bool = False, packages: str = "", registry: str = "", always: str = "",
) -> Reads:  # fmt: skip
    """Return a function that reads a command that installs packages.

    ``subs`` are its subcommands; the others name options: those with an index, with places of packages, for the whole
    system, without signatures, with a repository, and with a package; ``always`` the subcommands for all projects.
    """
    known = set(subs.split("|"))

    def read(given: Arguments) -> Iterator[Found]:
        words = given.operands
        at = next((at for at in (1, 2) if " ".join(words[:at]) in known), None)
        if at is None:
            return
        for name in index.split():
            yield from (Found("foreign-package", value, ("index",)) for value in given.options.get(name, ()))
        for name in git.split():
            yield from (Found("foreign-package", value, ("git",)) for value in given.options.get(name, ()) if value)
        named = [value for name in packages.split() for value in given.options.get(name, ())]
        for value in [value for name in links.split() for value in given.options.get(name, ())]:
            if _URL.match(value):
                yield Found("foreign-package", value, ("url",))
        for word in [*words[at:], *named]:
            if sort := _sort(word, short=short):
                yield Found("foreign-package", word, (sort,))
            elif registry and (name_ := _PACKAGE.match(word)):
                yield Found("install-package", name_.group(), (registry,))
        if given.has(*unsigned.split()):
            yield Found("foreign-package", " ".join(words[at:]) or "…", ("unsigned",))
        if given.has(*everywhere.split()) or " ".join(words[:at]) in always.split("|"):
            yield Found("global-install", " ".join(words[at:]))

    return read


def _all(*readers: Reads) -> Reads:
    def read(given: Arguments) -> Iterator[Found]:
        for reader in readers:
            yield from reader(given)

    return read


def _settings(*commands: str, sort: str = "index", urls: bool = True) -> Reads:
    """Return a function that reads commands that change where packages come from: ``config set registry URL``."""

    def read(given: Arguments) -> Iterator[Found]:
        said = " ".join(given.operands)
        if any(said.startswith(command) for command in commands):
            values = [word for word in re.split(r"[ =]", said) if _URL.match(word)]
            if values or not urls:
                yield Found("foreign-package", (values or given.operands)[-1], (sort,))

    return read


def _variables(**names: str) -> Reads:
    """Return a function that reads variables that are set for the command and change where packages come from."""

    def read(given: Arguments) -> Iterator[Found]:
        for name, value in given.command.assigned:
            if name in names and value:
                yield Found("foreign-package", value, (names[name],))

    return read


def _system_python(given: Arguments) -> Iterator[Found]:
    """Read an install into the Python of the system: as root, or past its protection."""
    if given.operands[:1] == ["install"] and (
        given.has("break-system-packages") or (given.has("root", "prefix") and not given.has("t"))
        or ("sudo" in given.command.via and not given.has("t", "user"))
    ):  # fmt: skip
        yield Found("global-install", " ".join(given.operands[1:]), ("system",))


def _scripts(given: Arguments) -> Iterator[Found]:
    if given.operands[:1] and given.operands[0] in _NODE_INSTALLS and not given.has("ignore-scripts"):
        yield Found("install-scripts")


def _run_package(given: Arguments) -> Iterator[Found]:
    words = [value for name in ("p", "from", "with") for value in given.options.get(name, ())] + given.operands[:1]
    for word in words:
        if sort := _sort(word, short=given.program in ("npx", "bunx")):
            yield Found("foreign-package", word, (sort,))
        else:
            yield Found("run-package", word)


def _images(given: Arguments) -> Iterator[Found]:
    words = given.operands
    if words[:1] == ["image"] or words[:1] == ["container"]:
        words = words[1:]
    if words[:1] and words[0] in ("pull", "run", "create") and len(words) > 1:
        yield Found("pull-image", words[1])


def _apply(given: Arguments) -> Iterator[Found]:
    if {"apply", "create", "replace"} & set(given.operands[:1]) and not given.has("dry-run"):
        for value in [*given.options.get("f", ()), *given.options.get("k", ())]:
            if _URL.match(value):
                yield Found("apply-downloaded", value)


def _is_remote(word: str) -> bool:
    """Return whether git reads a word as a URL or a host: neither a directory nor the name of a remote."""
    return "://" in word or (":" in word and not word.startswith(("/", ".", "~")))


def _clone(given: Arguments) -> Iterator[Found]:
    words = given.operands
    if words[:1] in (["clone"], ["ls-remote"]) or words[:2] == ["submodule", "add"]:
        target = words[2:3] if words[0] == "submodule" else words[1:2]
        yield from (Found("clone", word) for word in target if _is_remote(word))
    elif words[:2] in (["remote", "add"], ["remote", "set-url"]):
        yield from (Found("change-remote", word) for word in words[3:4])
    elif words[:1] in (["fetch"], ["pull"], ["push"]) and len(words) > 1 and ("://" in words[1] or "@" in words[1]):
        yield Found("clone" if words[0] != "push" else "request", words[1])


def _url_of_script(given: Arguments) -> Iterator[Found]:
    if given.operands[:1] and given.operands[0] in ("run", "install", "x", "eval", "test", "cache"):
        yield from (Found("run-downloaded", word) for word in given.operands[1:2] if _URL.match(word))
    else:
        yield from (Found("run-downloaded", word) for word in given.operands[:1] if _URL.match(word))


_NODE_INSTALLS = frozenset("install i ci add in isntall install-test it update up upgrade link rebuild".split())
_NODE_OPTIONS = (
    "g,global registry= ignore-scripts D,save-dev S,save E,save-exact O,save-optional P,save-prod w=,workspace= "
    "C=,prefix=,cwd=,dir= n,dry-run,no-dry-run tag= access= otp= f,force filter=,F= loglevel= location= userconfig= "
    "provenance r,recursive no-git-checks p=,package= y,yes c=,call= strict-ssl= cache= L,legacy-peer-deps"
)
_NODE = _all(
    _installs(
        "install|i|ci|add|in|it|update|up|upgrade|global add|dlx|exec|x|create|link", index="registry", everywhere="g",
        always="global add", short=True, registry="npm",
    ),
    _settings("config set registry", "set registry", "config set npmRegistryServer", "config set @"),
    _variables(NPM_CONFIG_REGISTRY="index", npm_config_registry="index", YARN_REGISTRY="index"),
    _scripts,
)  # fmt: skip
_LOCAL = "http://localhost*|http://127.0.0.1*"
_NODE_ROWS = (
    Row("", ("-n", "--dry-run", f"--registry={_LOCAL}")),
    Row("publish", sub="publish|npm publish|npm tag add|release"),
    Row("publish", sub="dist-tag add|dist-tags add|tag add"),
    Row("change-owners", sub="owner add|owner rm|owner remove|access grant|access revoke|access public"),
    Row("unpublish", sub="unpublish|deprecate|npm unpublish|npm deprecate"),
    Row("unpublish", sub="dist-tag rm|dist-tag remove"),
)  # fmt: skip
_PIP_OPTIONS = (
    "U,upgrade e=,editable= r=,requirement= t=,target= user q,quiet pre no-deps force-reinstall i=,index-url= "
    "extra-index-url= f=,find-links= c=,constraint= trusted-host= break-system-packages no-index root= prefix= "
    "python= proxy= cert= cache-dir= log= timeout= retries= no-binary= only-binary= src= config-settings= d=,dest= "
    "w=,wheel-dir= index= default-index= allow-insecure-host= p= dry-run index-strategy= extra= group= with= from= "
    "tag= branch= rev= G= source="
)
_PIP = _installs(
    "install|download|wheel|add|tool install|tool run|pip install|sync|lock|run|source add|inject|upgrade",
    index="i extra-index-url index default-index", links="f r", packages="e with from", registry="pypi",
    everywhere="user", always="tool install",
)  # fmt: skip


def _trusted_host(given: Arguments) -> Iterator[Found]:
    if not {"install", "download", "wheel", "add", "sync", "lock", "run"} & set(given.operands[:2]):
        return
    for name in ("trusted-host", "allow-insecure-host"):
        yield from (Found("tls-off") for _ in given.options.get(name, ()))


_PYTHON_VARIABLES = _variables(
    PIP_INDEX_URL="index", PIP_EXTRA_INDEX_URL="index", UV_INDEX_URL="index", UV_DEFAULT_INDEX="index",
    UV_EXTRA_INDEX_URL="index", UV_INDEX="index", PIP_FIND_LINKS="url",
)  # fmt: skip
_PYTHON = _all(
    _PIP, _system_python, _trusted_host, _PYTHON_VARIABLES,
    _settings("config set global.index-url", "config set global.extra-index-url", "config set install.index-url",
              "config repositories", "source add", "config set global.find-links", "config --global set"),
)  # fmt: skip
_PUBLISHES = (Row("", "--dry-run"), Row("publish", sub="publish|upload"))


def _upload(given: Arguments) -> Iterable[Found]:
    if given.program == "setup.py" and "upload" in given.operands:
        yield Found("publish")


_SYSTEM = _installs(
    "install|upgrade|dist-upgrade|full-upgrade|localinstall|reinstall|in|add|update|-S|-U|download",
    unsigned="allow-unauthenticated nogpgcheck no-gpg-checks nosignature allow-untrusted dangerous force-yes nodigest",
)
_UNSIGNED = regex(r"allow(?:unauthenticated|insecure|weak|downgradetoinsecure)\w*\s*=\s*(?:true|1|yes)", re.IGNORECASE)
_SYSTEM_OPTIONS = (
    "y,yes,assume-yes o=,option= t=,target-release= q allow-unauthenticated allow-downgrades force-yes nogpgcheck "
    "nosignature no-install-recommends no-gpg-checks allow-untrusted dangerous X=,repository= repo= enablerepo= "
    "i,install U,upgrade F,freshen v,verbose h,hash S R e,erase force nodeps nodigest classic channel= c=,config-file= "
    "keyserver= recv-keys= from= p allow-insecure-repositories allow-unsigned-rpm"
)


def _unsigned_settings(given: Arguments) -> Iterator[Found]:
    for value in given.options.get("o", ()):
        if _UNSIGNED.search(value):
            yield Found("foreign-package", value, ("unsigned",))
    if given.program in ("rpm", "dpkg", "pacman") and (given.has("i", "U", "F") or "-U" in given.words):
        yield from (Found("foreign-package", word, ("url",)) for word in given.operands if _URL.match(word))
    if given.program == "rpm" and given.has("nosignature", "nodigest"):
        yield Found("foreign-package", " ".join(given.operands), ("unsigned",))
    if given.has("allow-insecure-repositories"):
        yield Found("foreign-package", " ".join(given.operands), ("unsigned",))
    yield from (
        Found("foreign-package", value, ("index",)) for value in given.options.get("X", ()) if _URL.match(value)
    )


def _repositories(given: Arguments) -> Iterator[Found]:
    """Read programs whose only task it is to add repositories or their keys."""
    for word in given.operands or [""]:
        if word.startswith(("ppa:", "deb ", "deb-src ")) or _URL.match(word) or word in ("adv", "add", "addrepo", "ar"):
            yield Found("foreign-package", given.operands[-1], ("repository",))
            return


def _tap(given: Arguments) -> Iterator[Found]:
    words = given.operands
    if words[:1] == ["tap"] and len(words) > 1 and not words[1].startswith("homebrew/"):
        yield Found("foreign-package", words[-1], ("repository",))
    elif words[:1] in (["install"], ["reinstall"], ["upgrade"]):
        for word in words[1:]:
            if _URL.match(word):
                yield Found("foreign-package", word, ("url",))
            elif word.count("/") == 2 and not word.startswith(("homebrew/", ".", "/")):
                yield Found("foreign-package", word, ("repository",))


_MODULE_HOSTS = (
    "./", "../", "/", "github.com/", "gitlab.com/", "bitbucket.org/", "golang.org/", "google.golang.org/", "gopkg.in/",
    "go.uber.org/", "k8s.io/", "sigs.k8s.io/", "cloud.google.com/", "codeberg.org/", "mvdan.cc/", "honnef.co/",
    "gotest.tools/", "go.opentelemetry.io/", "gorm.io/", "entgo.io/", "helm.sh/", "filippo.io/", "rsc.io/",
)  # fmt: skip
"""Where modules of Go usually are; their sums are checked."""


def _go(given: Arguments) -> Iterator[Found]:
    yield from _variables(GOPROXY="index")(given)
    if given.has("insecure"):
        yield Found("tls-off")
    if given.operands[:1] in (["install"], ["run"]):
        for word in given.operands[1:]:
            if "@" in word and not word.startswith(_MODULE_HOSTS):
                yield Found("foreign-package", word, ("git",))


def _visibility(given: Arguments) -> Iterator[Found]:
    words = given.operands
    is_public: dict[tuple[str, ...], bool] = {
        ("repo", "edit"): given.value("visibility") == "public",
        ("repo", "create"): given.has("public"),
        ("gist", "create"): given.has("p", "public"),
    }
    if is_public.get(tuple(words[:2])):
        yield Found("make-public", " ".join(words[2:]))


_GRADLE = regex(r"(?::[\w:-]*:)?(?:publish\w*|uploadArchives|bintrayUpload|closeAndRelease\w*|artifactoryPublish)\Z")
_MAVEN = regex(r"deploy|release:perform|nexus-staging:release|[\w.:-]*maven-deploy-plugin[\w.:-]*")


def _build_tool(given: Arguments) -> Iterator[Found]:
    if given.has("dry-run", "m"):
        return
    for word in given.operands:
        if word == "publishToMavenLocal" or word.endswith(":publishToMavenLocal"):
            continue
        if (_MAVEN if given.program == "mvn" else _GRADLE).fullmatch(word):
            yield Found("publish", word)


def _unchecked_chart(given: Arguments) -> Iterator[Found]:
    if given.has("insecure-skip-tls-verify"):
        yield Found("tls-off")


def _added_repository(given: Arguments) -> Iterator[Found]:
    yield from (Found("foreign-package", value, ("repository",)) for value in given.options.get("add-repo", ()))


def _clone_of_host(given: Arguments) -> Iterator[Found]:
    if given.operands[:2] == ["repo", "clone"]:
        service = "gitlab.com" if given.command.name == "glab" else "github.com"
        for word in given.operands[2:3]:
            yield Found("clone", word if ":" in word else f"https://{service}/{word}")


def _extension(given: Arguments) -> Iterator[Found]:
    values = given.options.get("install-extension", ())
    yield from (Found("foreign-package", value, ("url",)) for value in values if _URL.match(value))


def _module(given: Arguments) -> Iterator[Found]:
    for value in given.options.get("from-module", ()):
        if _GIT.match(value) or _URL.match(value):
            yield Found("foreign-package", value, (_sort(value) or "url",))


PROGRAMS: dict[str, Program] = {
    "npm": Program(_NODE_ROWS, options=_NODE_OPTIONS, aka="pnpm yarn cnpm tyarn", effects=_NODE),
    "lerna": Program((Row("publish", "-y", sub="publish"),), options="y,yes"),  # else it asks by itself
    "bun": Program(_NODE_ROWS, options=_NODE_OPTIONS, effects=_all(_NODE, _url_of_script)),
    "npx": Program(options=_NODE_OPTIONS, aka="bunx pnpx", effects=_run_package),
    "uvx": Program(options=_PIP_OPTIONS, effects=_all(_run_package, _PYTHON_VARIABLES)),
    "jsr": Program(_PUBLISHES),
    "deno": Program(_PUBLISHES, options="A r= c= q", effects=_url_of_script),
    "pip": Program(options=_PIP_OPTIONS, aka="pip3 pipenv pipx", effects=_PYTHON),
    "uv": Program(_PUBLISHES, options=_PIP_OPTIONS, effects=_PYTHON),
    "poetry": Program(_PUBLISHES, options=_PIP_OPTIONS, aka="pdm hatch flit maturin rye", effects=_PYTHON),
    "twine": Program((Row("publish", sub="upload"),)),
    "setup.py": Program(effects=_upload),
    "conda": Program(
        (Row("publish", sub="upload"),),
        options="c=,channel= n=,name= p=,prefix= f=,file= y override-channels",
        aka="mamba micromamba anaconda",
        effects=_installs("install|create|update|env create", links="c f"),
    ),
    "cargo": Program(
        (
            Row("", ("-n", "--dry-run")),
            Row("publish", sub="publish|release"),
            Row("", "--undo", sub="yank"),
            Row("unpublish", sub="yank"),
            Row("change-owners", ("-a", "-r"), sub="owner", options="a=,add= r=,remove="),
        ),
        options="n,dry-run git= registry= index= path= branch= tag= rev= version=,vers= F=,features= p=,package= "
        "manifest-path= target= token= locked f,force",
        globals="q v Z= C= config= locked offline frozen color=",
        effects=_all(
            _installs(
                "install|add|binstall", index="registry index", git="git", registry="crates", always="install|binstall"
            )
        ),
    ),
    "gem": Program(
        (
            Row("publish", sub="push"),
            Row("change-owners", ("-a", "-r"), sub="owner", options="a=,add= r=,remove="),
            Row("unpublish", sub="yank"),
        ),
        options="s=,source= a=,add= r=,remove= v=,version= g= i=,install-dir= P=,trust-policy= no-document N",
        effects=_all(
            _installs("install|update|sources", index="s a", always="install"),
        ),
    ),
    "bundle": Program(effects=_settings("config set mirror", "config mirror")),
    "go": Program(options="insecure o= v u t tags= ldflags= mod= C=", effects=_go),
    "goreleaser": Program(
        (Row("", ("--snapshot", "--split", "--skip=*publish*")), Row("publish", sub="release|publish|continue")),
        options="snapshot split skip= f= clean",
    ),
    "composer": Program(
        effects=_settings("config repositories", "config repo", "config --global repo", "config -g repo")
    ),
    "mvn": Program(options="dry-run m D= P= pl= f= s= am q B U", aka="mvnw", effects=_build_tool),
    "gradle": Program(options="m,dry-run P= D= p= x= q i", aka="gradlew gradlew.bat sbt lein", effects=_build_tool),
    "dotnet": Program(
        (
            Row("publish", sub="nuget push|push"),
            Row("unpublish", sub="nuget delete|delete"),
        ),
        options="s=,source= k=,api-key= n=,name= f=,framework=",
        aka="nuget",
        effects=_settings("nuget add source", "sources add", "nuget update source", "sources Add"),
    ),
    "brew": Program(effects=_tap),
    "apt-get": Program(options=_SYSTEM_OPTIONS, aka="apt aptitude", effects=_all(_SYSTEM, _unsigned_settings)),
    "rpm": Program(options=_SYSTEM_OPTIONS, effects=_unsigned_settings),
    "dpkg": Program(options=_SYSTEM_OPTIONS, effects=_unsigned_settings),
    "dnf": Program(
        options=_SYSTEM_OPTIONS + " add-repo=",
        aka="yum zypper apk snap flatpak microdnf yum-config-manager",
        effects=_all(
            _SYSTEM,
            _unsigned_settings,
            _settings(
                "config-manager --add-repo", "config-manager addrepo", "addrepo", "ar ", "remote-add", sort="repository"
            ),
            _added_repository,
        ),
    ),
    "pacman": Program(options="S U R y u q s noconfirm needed", aka="yay paru", effects=_unsigned_settings),
    "add-apt-repository": Program(
        options="y k= r,remove n keyserver= recv-keys=", aka="apt-add-repository", effects=_repositories
    ),
    "apt-key": Program(options="keyserver= recv-keys=", effects=_repositories),
    "helm": Program(
        (Row("publish-image", sub="push"),),
        options="version= repo= username= password= verify insecure-skip-tls-verify "
        "ca-file= plain-http n=,namespace= f=,values= set=",
        effects=_all(
            _settings("repo add", "plugin install", sort="repository"),
            _installs("install|upgrade|template|pull", index="repo"),
            _unchecked_chart,
        ),
    ),
    "terraform": Program(
        options="from-module=",
        aka="tofu",
        effects=_module,
    ),
    "docker": Program(
        (
            Row("publish-image", sub="image push|manifest push|compose push"),
            Row("publish-image", sub="push"),
            Row("publish-image", "--push", sub="build|buildx build|buildx bake", options="t=,tag="),
        ),
        options="a,all-tags q platform= push v=,volume= e=,env= p=,publish= n=,name= w=,workdir= u=,user= "
        "network=,net= entrypoint= mount= env-file= restart= l=,label= m=,memory= cpus= gpus= shm-size= "
        "tmpfs= ulimit= h=,hostname= add-host= link= pull= cap-add= cap-drop= device= security-opt= userns= "
        "ipc= pid= uts= log-driver= log-opt= f=,file= build-arg= target= cache-from= cache-to= "
        "o=,output= expose= dns= ip= runtime= stop-signal= disable-content-trust d,detach i t rm",
        globals="c=,context= D,debug H=,host= l=,log-level= config= tls tlsverify",
        aka="podman nerdctl buildah",
        effects=_images,
    ),
    "skopeo": Program((Row("publish-image", sub="copy|sync"),), aka="crane oras"),
    "kubectl": Program(
        options="f=,filename= k=,kustomize= n=,namespace= dry-run=? l= o= context= cluster=", aka="oc", effects=_apply
    ),
    "git": Program(
        options="b= depth= o= c= j= recurse-submodules branch= origin= config= template= reference= filter= "
        "shallow-since= separate-git-dir= u= upload-pack= t= m= server-option=",
        globals="C= c= git-dir= work-tree= namespace= exec-path= config-env=",
        effects=_clone,
    ),
    "gh": Program(
        (
            Row("publish-release", sub="release create|release upload|release edit"),
            Row("unpublish", sub="release delete|release delete-asset"),
            Row("merge", sub="pr merge|mr merge"),
            Row("merge", sub="pr close|issue close|mr close|issue lock|pr lock|pr review --approve"),
        ),
        options="R=,repo= t=,title= n=,notes= F=,notes-file= target= visibility= public private p d=,desc= f= b=,body= "
        "m,merge s,squash r,rebase auto admin delete-branch subject= match-head-commit= c=,comment=",
        globals="R=,repo= hostname=",
        aka="glab hub",
        effects=_all(_visibility, _clone_of_host),
    ),
    "vsce": Program((Row("publish", sub="publish"), Row("unpublish", sub="unpublish")), aka="ovsx"),
    "pod": Program((Row("publish", sub="trunk push|repo push"), Row("unpublish", sub="trunk delete|trunk deprecate"))),
    "mix": Program((Row("", "--dry-run"), Row("publish", sub="hex.publish"), Row("unpublish", sub="hex.retire"))),
    "dart": Program(
        (Row("", ("--dry-run", "-n")), Row("publish", sub="pub publish")), options="n,dry-run", aka="flutter"
    ),
    "luarocks": Program(
        (Row("publish", sub="upload"),), options="server=", effects=_installs("install", index="server")
    ),
    "semantic-release": Program(
        (Row("", ("-d", "--dry-run")), Row("publish")), options="d,dry-run", aka="release-it np"
    ),
    "changeset": Program((Row("publish", sub="publish"),)),
    "code": Program(options="install-extension=", effects=_extension),
}
