"""Functions of script languages that run commands, or read, write and delete files, and the like."""

from __future__ import annotations

from ...runtime.regex import regex

__all__ = [
    "ALONE",
    "CALLS_NAMES",
    "COPIES",
    "DECODES",
    "DELETES",
    "DELETES_OF",
    "EMPTIES",
    "ENVIRONMENTS",
    "EVALUATES",
    "FETCHED",
    "FUNCTIONS",
    "HOMES",
    "JOINS",
    "LISTS",
    "LISTS_BY_PATH",
    "MOVES",
    "NAMESPACES",
    "OPENS",
    "PATHS",
    "PATH_CALLS",
    "PATH_METHODS",
    "PRINTS",
    "READS",
    "REFLECTED",
    "REQUESTS",
    "RUNNERS",
    "SAME_TEXT",
    "SAVES",
    "SENDS",
    "SHELL",
    "SINGLE",
    "SOCKETS",
    "STATEMENTS",
    "TAKES_WORDS",
    "TREES",
    "WRITES",
]

# What functions do, by the last part of their name. A name before the dot is needed where the name alone says little.

RUNNERS: dict[str, str] = {
    "python": (
        "system popen Popen check_call check_output getoutput getstatusoutput execv execve execvp execvpe execl execle "
        "execlp execlpe spawnv spawnve spawnvp spawnl spawnlp spawnle posix_spawn posix_spawnp startfile "
        "create_subprocess_shell create_subprocess_exec subprocess.run subprocess.call sp.run sp.call pty.spawn "
        "pexpect.spawn pexpect.run spawnlpe"
    ),
    "node": (
        "execSync execFile execFileSync spawn spawnSync exec child_process.exec cp.exec Bun.spawn Bun.spawnSync "
        "Deno.Command Deno.run execa execaSync execaCommand execaCommandSync shell.exec shelljs.exec"
    ),
    "ruby": "system exec spawn IO.popen popen Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen3 popen3 sh",
    "perl": "system exec",
    "php": "system exec shell_exec passthru proc_open popen pcntl_exec",
    "lua": "os.execute io.popen",
    "julia": "",
    "r": "system system2 shell",
    "elixir": "System.cmd System.shell os.cmd cmd",
    "awk": "system",
    "osascript": "",
}
ALONE = {"python": {"run", "call"}}
"""Names that are functions of subprocess if the code imports them alone."""
DELETES = frozenset(
    """
        os.remove os.unlink os.rmdir os.removedirs shutil.rmtree rmtree unlink unlinkSync rmSync rmdirSync
        fs.rm fs.rmdir fs.unlink fsp.rm fsp.unlink promises.rm promises.unlink rimraf rimraf.sync
        fs.removeSync removeSync emptyDirSync File.delete File.unlink FileUtils.rm FileUtils.rm_r
        FileUtils.rm_rf FileUtils.rm_f FileUtils.remove_dir FileUtils.remove_entry
        FileUtils.remove_entry_secure FileUtils.rmtree FileUtils.remove Dir.rmdir Dir.delete rmdir
        remove_tree rm_rf rm_r os.remove Deno.remove Deno.removeSync fs.remove File.rm File.rm_rf
        File.rm_rf! unlink!
    """.split()
)
DELETES_OF = {"julia": frozenset({"rm"}), "r": frozenset({"file.remove", "unlink"})}
"""Functions of one language that delete files; elsewhere the name means something else."""
TREES = frozenset({"rmtree", "rmSync", "rm_rf", "rm_r", "rimraf", "remove_tree", "rm_rf!", "rmdirSync", "emptyDirSync"})
READS = frozenset(
    """
        readFile readFileSync read_text read_bytes file_get_contents readfile fopen slurp File.read
        File.readlines File.open File.foreach IO.read IO.readlines IO.binread File.binread read_file
        readlines Deno.readTextFile Deno.readTextFileSync Deno.readFile Deno.readFileSync Bun.file
        createReadStream open io.open codecs.open os.open file File.read! np.loadtxt linecache.getlines
        show_source highlight_file parse_ini_file
    """.split()
)
WRITES = frozenset(
    """
        writeFile writeFileSync appendFile appendFileSync file_put_contents File.write IO.write write_text
        write_bytes createWriteStream Deno.writeTextFile Deno.writeTextFileSync Deno.writeFile
        Deno.writeFileSync Bun.write outputFileSync writeFile! File.write! truncateSync os.truncate
        symlinkSync os.symlink os.link
    """.split()
)
COPIES = frozenset(
    {
        "copyfile",
        "copy2",
        "shutil.copy",
        "copytree",
        "copyFile",
        "copyFileSync",
        "cpSync",
        "copySync",
        "FileUtils.cp",
        "FileUtils.cp_r",
        "FileUtils.copy",
        "copy",
    }
)
MOVES = frozenset(
    {
        "shutil.move",
        "os.rename",
        "os.replace",
        "renameSync",
        "fs.rename",
        "File.rename",
        "FileUtils.mv",
        "rename",
        "moveSync",
    }
)
OPENS = frozenset({"open", "io.open", "codecs.open", "File.open", "fopen", "os.open", "file"})
REQUESTS = frozenset(
    [
        "get",
        "post",
        "put",
        "patch",
        "delete",
        "head",
        "request",
        "urlopen",
        "urlretrieve",
        "fetch",
        "axios",
        "got",
        "Request",
        "open",
        "URI.open",
        "file_get_contents",
        "curl_init",
        "getstore",
        "get_response",
        "urllib.urlopen",
        "HTTPConnection",
        "download",
        "connect",
        "createConnection",
        "post_form",
        "send",
    ]
)
SAVES = frozenset({"urlretrieve", "getstore", "download"})
"""Those of them that write what they get to the file that is given after the URL."""
SENDS = frozenset({"post", "put", "patch", "post_form", "send", "delete"})
STATEMENTS = frozenset(
    """
        execute executescript executemany query raw exec unsafe $executeRawUnsafe $executeRaw
        $queryRawUnsafe $queryRaw do prepare mysqli_query pg_query sql run all each text execute_batch
        exec_query read_sql cursor.execute multi_query ExecContext statement
    """.split()
)
EMPTIES = frozenset({"deleteMany", "updateMany", "delete_all", "destroy_all"})
"""Methods of models that change all rows unless they are given a condition."""
EVALUATES: dict[str, str] = {
    "python": (
        "exec eval compile runcode runsource timeit.timeit timeit.repeat timeit.Timer cProfile.run profile.run pdb.run"
    ),
    "node": "eval Function runInNewContext runInThisContext vm.runInContext",
    "ruby": "eval instance_eval class_eval module_eval",
    "perl": "eval",
    "php": "eval assert create_function",
    "lua": "load loadstring dostring",
    "julia": "eval include_string",
    "r": "eval",
}
FETCHED = frozenset({"urlopen", "get", "fetch", "urlretrieve", "recv"})
DECODES = frozenset(
    """
        b64decode decodebytes fromhex a85decode b85decode unhexlify decompress atob fromCharCode
        base64_decode gzinflate gzuncompress str_rot13 unpack decode64 decode_base64 urlsafe_b64decode
        Buffer.from chr pack loads frombytes
    """.split()
)
PRINTS = regex(
    r"\b(?:print|puts|console\.\w+|echo|printf|pprint|write|JSON\.stringify|dumps|var_dump|print_r|say|inspect|p|pp)\b"
)
SHELL = regex(r"\s*(?:\S*/)?(?:ba|da|z|k|c)?sh\b|\s*cmd(?:\.exe)?\b")
SOCKETS = frozenset({"socket", "TCPSocket", "fsockopen", "Socket", "createConnection", "connect", "pfsockopen"})
SAME_TEXT = frozenset(
    """
        str Path PurePath pathlib.Path expanduser abspath realpath resolve strip trim encode decode toString
        to_s shlex.split split normpath glob path.resolve path.normalize File.expand_path expand_path freeze
        as_posix normalize trimEnd chomp Shellwords.split
    """.split()
)
JOINS = frozenset({"join", "path.join", "os.path.join", "File.join", "joinpath", "path.resolve"})
LISTS = frozenset({"glob", "iglob", "rglob", "iterdir", "scandir", "children", "entries", "each_child"})
"""Functions and methods that list files: what they return is gone through by loops."""
LISTS_BY_PATH = frozenset({"os.scandir", "scandir", "Dir.children", "Dir.each_child"})
"""Those of them that are given the directory."""
HOMES = frozenset({"Path.home", "pathlib.Path.home", "os.homedir", "homedir", "Dir.home", "home"})
ENVIRONMENTS = frozenset({"os.environ", "environ", "process.env", "ENV", "%ENV", "$_ENV", "Deno.env", "Bun.env"})
PATH_METHODS = {
    "unlink": "delete-files",
    "rmdir": "delete-files",
    "rmtree": "delete-files",
    "read_text": "read-files",
    "read_bytes": "read-files",
    "write_text": "write-files",
    "write_bytes": "write-files",
}
CALLS_NAMES = frozenset({"array_map", "call_user_func", "call_user_func_array", "array_walk", "array_filter", "usort"})
FUNCTIONS = frozenset(
    """
    os.system os.popen os.execv os.execvp os.remove os.unlink subprocess.run subprocess.call subprocess.Popen
    subprocess.check_output subprocess.check_call subprocess.getoutput shutil.rmtree child_process.exec
    child_process.execSync child_process.spawn child_process.spawnSync fs.rmSync fs.unlinkSync
    """.split()
)
"""Functions that run or delete: also where they are handed on, they may be called."""
PATH_CALLS = {
    "delete": "delete-files", "read": "read-files", "open": "read-files", "text": "read-files", "write": "write-files",
    "touch": "write-files", "rename": "move-files", "replace": "move-files",
}  # fmt: skip
"""Methods of a path that is made in the same call; of other things they mean something else."""
PATHS = frozenset({"Path", "PurePath", "PosixPath", "Pathname", "joinpath", "expanduser", "file", "home"})
TAKES_WORDS = frozenset({
    "create_subprocess_exec", "execl", "execle", "execlp", "execlpe", "spawnl", "spawnle", "spawnlp", "spawnlpe"
})  # fmt: skip
"""Functions of Python that take the words of a command as arguments."""
NAMESPACES = frozenset("__dict__ __builtins__ modules process global globalThis window self require os".split())
"""Names whose items are functions of modules."""
REFLECTED = frozenset({"system", "popen", "execSync", "spawnSync", "exec", "spawn", "rmtree", "rmSync", "unlinkSync"})
"""Names that code may look up as texts: ``require("child_process")["execSync"]``."""
SINGLE = frozenset({"get", "pop", "setdefault", "update", "fetch", "delete", "key?", "has_key?", "set", "has"})
