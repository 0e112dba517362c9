"""Programs for databases, and the tools that migrate them: statements by what they say, resets by their commands."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from ....matching.shell.words import MANY, ONE, is_known
from ..code_tokens import tokens_of
from ..inline_code import read_code
from ..rows import RUNS, Arguments, Found, Program, Row, line_of
from ..sql import sql_effects

__all__ = ["PROGRAMS"]


_BARE = frozenset({"DROP", "TRUNCATE", "DELETE", "ALTER", "UPDATE"})
"""A statement without quotes: its other words became operands."""


def _client(statements: str, names: str = "", *, operands: int | None = None) -> Callable[[Arguments], Iterator[Found]]:
    """Return a function that reads the SQL that a client is given.

    ``statements`` are the options that have it, ``names`` those that name a host or a database. The operands from
    number ``operands`` on are statements too; those before it are names.
    """

    def effects(arguments: Arguments) -> Iterator[Found]:
        if arguments.has("readonly"):
            return
        texts = [value for name in statements.split() for value in arguments.options.get(name, ())]
        given = arguments.operands if operands is None else arguments.operands[:operands]
        if operands is not None:
            texts += arguments.operands[operands:]
        values = _values(arguments, names, given)
        texts = [" ".join([text, *given]) if text.upper() in _BARE else text for text in texts]
        for text in (*texts, *arguments.texts):
            for found in sql_effects(text):
                yield found._replace(values=values)

    return effects


def _values(arguments: Arguments, names: str, given: list[str]) -> tuple[str, ...]:
    """Return what may say which database it is: values of options, operands, variables."""
    found = [value for name in names.split() for value in arguments.options.get(name, ())]
    return (*found, *given, *(value for _, value in arguments.command.assigned))


_MONGO_DROPS = frozenset(
    """
        drop dropDatabase dropIndexes dropUser dropAllUsers dropRole dropAllRoles dropIndex dropSearchIndex
    """.split()
)
_MONGO_ALL = frozenset(["deleteMany", "remove", "updateMany", "update", "bulkWrite"])


def _mongo(arguments: Arguments) -> Iterator[Found]:
    """Read the calls in what a Mongo shell evaluates."""
    values = _values(arguments, "host", arguments.operands)
    for text in (*arguments.options.get("eval", ()), *arguments.texts):
        tokens = [token for token in tokens_of("node", text) if token.text != "\n"]
        values += tuple(after.text for token, after in pairwise(tokens) if token.text in ("use", "getSiblingDB"))
        for at, token in enumerate(tokens):
            name = token.text.rpartition(".")[2]
            after = "".join(one.text if one.kind == "mark" else "x" for one in tokens[at + 1 : at + 4])
            if token.kind == "name" and after[:1] in ("(", "") and name in _MONGO_DROPS:
                yield Found("db-drop", token.text, values)
            elif token.kind == "name" and name in _MONGO_ALL and re.match(r"\((?:\{\}|\))", after):
                yield Found("db-delete", f"of {token.text}", values)
            elif name in ("dropDatabase", "drop") and after.startswith(":"):
                yield Found("db-drop", name, values)


_REDIS_DROPS = frozenset({"FLUSHALL", "FLUSHDB", "SWAPDB"})
_REDIS_CHANGES = frozenset({"SHUTDOWN", "DEBUG", "SLAVEOF", "REPLICAOF", "FAILOVER", "MIGRATE", "RESTORE"})
_REDIS_PAIRS = frozenset(
    [
        "SCRIPT FLUSH",
        "CONFIG SET",
        "CONFIG REWRITE",
        "CONFIG RESETSTAT",
        "ACL SETUSER",
        "ACL DELUSER",
        "CLUSTER RESET",
        "FUNCTION FLUSH",
        "FUNCTION DELETE",
        "CLUSTER FORGET",
        "CLUSTER FAILOVER",
        "MODULE LOAD",
        "MODULE UNLOAD",
        "CLIENT KILL",
    ]
)


def _redis(arguments: Arguments) -> Iterator[Found]:
    """Read the command words of a Redis client, also those that it reads."""
    values = _values(arguments, "h u n", [])
    lines = [list(arguments.operands)] if arguments.operands else []
    lines += [line.split() for text in arguments.texts for line in text.splitlines()]
    for words in lines:
        first, second = "".join(words[:1]).upper(), "".join(words[1:2]).upper()
        if first in _REDIS_DROPS or (
            first in ("EVAL", "EVALSHA") and re.search(r"(?i)flush(?:all|db)", " ".join(words))
        ):
            yield Found("db-drop", "all keys", values)
        elif first in ("DEL", "UNLINK") and any(word in (ONE, MANY) for word in words[1:]):
            yield Found("db-delete", "of the keys that it is given", values)
        elif first in _REDIS_CHANGES or f"{first} {second}" in _REDIS_PAIRS:
            yield Found("db-schema", " ".join(words[:3]), values)


def _typed(arguments: Arguments) -> Iterator[Found]:
    """Read a statement that is typed as a command: a terminal may have a client open."""
    yield from sql_effects(" ".join([arguments.command.name, *arguments.words]))


# Migration tools.


def _environments(arguments: Arguments) -> tuple[str, ...]:
    """Return the names of environments that a command is given: the values of variables, and of ``--env``."""
    given = [word.partition("=")[2] for word in arguments.words if word.startswith(("--env=", "--environment="))]
    return (*given, *(value for _, value in arguments.command.assigned))


def _task(arguments: Arguments) -> Iterator[Found]:
    """Read the tasks of rails, rake, artisan, manage.py, mix, sequelize and others: words with a colon or a dot."""
    words = [word for word in arguments.operands if is_known(word)]
    if {"--help", "-h"} & set(arguments.words):
        return
    values = (*arguments.operands, *_environments(arguments))
    for word in words[:3]:
        name = word.partition("[")[0]
        if name in _RESETS:
            yield Found("db-reset", "", values)
            return
        if name in _MIGRATIONS:
            yield Found("db-schema", "", values)
            return


_RESETS = frozenset(
    """
        db:drop db:drop:all db:drop:_unsafe db:reset db:migrate:reset db:purge db:purge:all db:schema:load
        db:structure:load db:truncate_all db:seed:replant db:setup:force migrate:fresh migrate:reset
        migrate:refresh db:wipe flush reset_db db:migrate:undo:all schema:drop migration:revert:all
        ecto.drop ecto.reset doctrine:database:drop doctrine:schema:drop doctrine:fixtures:load
        orm:schema-tool:drop
    """.split()
)
_MIGRATIONS = frozenset(
    """
        db:migrate db:rollback db:migrate:down db:migrate:undo db:migrate:redo migrate migrate:rollback
        db:seed migrate:install ecto.migrate ecto.rollback migration:run migration:revert schema:sync
        schema:update doctrine:migrations:migrate doctrine:schema:update loaddata
    """.split()
)


def _django(arguments: Arguments) -> Iterator[Found]:
    words = arguments.operands
    values = tuple(value for name in ("database", "settings") for value in arguments.options.get(name, ()))
    values += _environments(arguments)
    if {"--help", "-h"} & set(arguments.words):
        return
    if (words[:1] and words[0] in ("flush", "reset_db", "reset_schema", "truncate", "delete_all")) or (
        words[:1] == ["migrate"] and "zero" in words
    ):
        yield Found("db-reset", "", values)
    elif words[:1] and words[0] in ("migrate", "loaddata"):
        if not arguments.has("plan", "check"):
            yield Found("db-schema", "", values)
    elif words[:1] in (["dbshell"], ["shell"]):
        for text in (*arguments.options.get("c", ()), *arguments.texts):
            statements = sql_effects(text) if words[0] == "dbshell" else read_code("python", text)
            yield from (one._replace(values=values) for one in statements)


def _runs_script(arguments: Arguments) -> Iterator[Found]:
    """Read ``python manage.py …``, ``php artisan …``, ``ruby bin/rails …``: the program is the script."""
    words = [word for word in arguments.words if word != "-u"]
    name = os.path.basename(words[0]) if words else ""
    inner = arguments._replace(operands=[word for word in words[1:] if not word.startswith("-")])
    if name in ("manage.py", "django-admin.py"):
        yield from _django(inner)
    elif name in ("artisan", "rails", "rake", "console", "bin/console"):
        yield from _task(inner)


def _runner(arguments: Arguments) -> Iterator[Found]:
    """Read Ruby that rails runs: a model that is emptied."""
    if arguments.operands[:1] in (["runner"], ["r"], ["console"], ["c"]):
        for text in (*arguments.operands[1:], *arguments.texts):
            yield from (one for one in read_code("ruby", text) if one.kind != RUNS)
    elif arguments.operands[:1] in (["dbconsole"], ["db"]):
        for text in arguments.texts:
            yield from sql_effects(text)


def _rails(arguments: Arguments) -> Iterator[Found]:
    yield from _task(arguments)
    yield from _runner(arguments)


def _mix(arguments: Arguments) -> Iterator[Found]:
    yield from _task(arguments)


_BINARIES = frozenset(
    """
    prisma sequelize sequelize-cli knex typeorm drizzle-kit mikro-orm wrangler vercel netlify firebase serverless sls
    sst cdk supabase
    """.split()
)


def _binary(arguments: Arguments) -> Iterator[Found]:
    """Read ``pnpm prisma …`` and ``yarn prisma …``: they run a program of the project."""
    for at, word in enumerate(arguments.words):
        if word in _BINARIES:
            yield Found(RUNS, line_of(arguments.words[at:]))
        if not word.startswith("-"):
            return


_SQL_NAMES = "d h D host database U url"
_PRISMA = "force-reset accept-data-loss skip-generate schema= force url= file= stdin preview-feature f create-only"

PROGRAMS: dict[str, Program] = {
    "pnpm": Program(effects=_binary, aka="yarn bun"),
    "psql": Program(
        effects=_client("c", "d h U v"),
        options=(
            "c=,command= f=,file= d=,dbname= h=,host= p=,port= U=,username= W,password w l,list t,tuples-only "
            "A q,quiet "
            "v=,set=,variable= x X o=,output= 1,single-transaction e a b E n s S z 0 F=,field-separator= R= "
            "P=,pset= T= L= csv"
        ),
        aka="pgcli usql",
    ),
    "mysql": Program(
        effects=_client("e", "D h u"),
        options=(
            "e=,execute= D=,database= h=,host= P=,port= u=,user= p=?,password=? B,batch N t f,force v s S=,socket= "
            "defaults-file= defaults-extra-file= ssl-ca= protocol= login-path= A C n r w E H X "
            "default-character-set= ssl-mode="
        ),
        aka="mariadb mycli",
    ),
    "mysqladmin": Program(
        (
            Row("db-drop:notfirst", "*:drop"),
            Row("db-schema:words", "*:shutdown|flush-hosts|flush-privileges|password|kill"),
        ),
        options="u=,user= p=?,password=? h=,host= P=,port= S= f,force",
        aka="mariadb-admin",
        environment="h u",
    ),
    "sqlite3": Program(
        effects=_client("cmd", operands=1),
        options=(
            "cmd= init= json csv header readonly batch column separator= bail line list html quote table box "
            "markdown "
            "noheader nullvalue= newline= safe echo interactive stats mmap= vfs= append A"
        ),
        aka="sqlite litecli sqlcipher sqlite-utils",
    ),
    "duckdb": Program(
        effects=_client("c s cmd", operands=1),
        options="c=,s= cmd= init= json csv readonly batch column markdown line list ui",
    ),
    "sqlcmd": Program(
        effects=_client("q Q c e query execute command execute-sql", _SQL_NAMES),
        options=(
            "q=,Q= query= c=,command= e=,execute= S=,server= d=,database= U=,user= P= i= o= h=,host= u= host= "
            "port= password= "
            "multiquery n db= url= w= p= keyspace= k= catalog= schema="
        ),
        aka=(
            "osql isql snowsql snow cqlsh trino presto clickhouse-client clickhouse cockroach ysqlsh vsql "
            "impala-shell beeline spark-sql "
            "crate questdb tsql bsqldb hdbsql db2 vertica redshift"
        ),
    ),
    "bq": Program(
        effects=_client("", operands=0), options="use_legacy_sql=? nouse_legacy_sql format= project_id= location="
    ),
    "wrangler": Program(
        (Row(_client("command", "env"), sub="d1 execute", options="command= file= remote local env= y,yes"),)
    ),
    "turso": Program((Row(_client("", operands=1), sub="db shell"), Row("db-drop:words", sub="db destroy"))),
    "heroku": Program(
        (Row(_client("c", "a"), sub="pg:psql", options="c=,command= a=,app="), Row("db-reset:words", sub="pg:reset")),
        globals="a=,app=",
    ),
    "supabase": Program(
        (Row("db-reset", sub="db reset"), Row("db-schema", sub="db push|migration up|migration repair")),
        globals="workdir=",
    ),
    "wp": Program(
        (
            Row("db-reset", sub="db reset|db drop|db clean|site empty"),
            Row(_client("", operands=0), sub="db query|db cli"),
        ),
        globals="path= url= ssh= user= allow-root",
    ),
    "drush": Program(
        (
            Row("db-reset", sub="sql-drop|sql:drop|site-install|site:install|si"),
            Row(_client("", operands=0), sub="sqlq|sql-query|sql:query"),
        )
    ),
    "mongosh": Program(
        effects=_mongo,
        options=(
            "eval= host= port= u=,username= p=,password= quiet f=,file= norc tls authenticationDatabase= "
            "json=? nodb shell"
        ),
        aka="mongo",
    ),
    "mongorestore": Program(
        (Row("db-drop", "--drop"), Row("db-schema", "!--dryRun")),
        options="drop dryRun uri= h=,host= d=,db= u= p= archive=? gzip dir=",
        environment="uri h d",
    ),
    "redis-cli": Program(
        effects=_redis,
        options=(
            "h=,host= p=,port= a=,pass= n= u= r= i= x X= eval= raw json csv no-auth-warning tls scan pattern= "
            "pipe user= c s= cacert="
        ),
        aka="valkey-cli keydb-cli iredis",
    ),
    "dropdb": Program(
        (Row("db-drop:last", "#>=1"),),
        options="h=,host= p=,port= U=,username= i f,force e w W if-exists maintenance-db=",
        environment="h",
    ),
    "dropuser": Program((Row("db-drop:last", "#>=1"),), options="h=,host= p= U= i e w W if-exists"),
    "pg_restore": Program(
        (Row("", "-l"), Row("db-drop:value:d", "-c"), Row("db-schema:value:d", "-d")),
        options=(
            "c,clean C,create d=,dbname= a,data-only n= t= j= U=,username= h=,host= p= l,list f=,file= F= s O "
            "x v 1 if-exists no-owner"
        ),
        environment="d h",
    ),
    "pg_ctl": Program((Row("db-schema", sub="stop|restart|kill|promote"),)),
    "initdb": Program((Row("", "--version"),)),
    "influx": Program((Row("db-drop:words", sub="delete|bucket delete|org delete"),)),
    "etcdctl": Program(
        (
            Row("db-delete:words", "--prefix", sub="del", options="prefix from-key"),
            Row("db-drop", sub="snapshot restore"),
        )
    ),
    "prisma": Program(
        (
            Row("db-reset", sub="migrate reset", options=_PRISMA),
            Row("db-reset", ("--force-reset", "--accept-data-loss"), sub="db push", options=_PRISMA),
            Row(_client("", "url"), sub="db execute", options=_PRISMA, also=True),
            Row("db-schema", sub="db push|migrate deploy|migrate dev|db execute|migrate resolve", options=_PRISMA),
        )
    ),
    "rails": Program(effects=_rails, aka="rake hanami gitlab-rails gitlab-rake"),
    "manage.py": Program(
        effects=_django, aka="django-admin django", options="database= settings= c=,command= plan check noinput"
    ),
    "artisan": Program(effects=_task, aka="sail"),
    "mix": Program(effects=_mix),
    "console": Program(effects=_task),
    "python": Program(effects=_runs_script, aka="python2 python3 py"),
    "php": Program(effects=_runs_script),
    "ruby": Program(effects=_runs_script),
    "sequelize": Program(
        effects=_task, aka="sequelize-cli mikro-orm typeorm typeorm-ts-node-commonjs typeorm-ts-node-esm"
    ),
    "knex": Program(
        (
            Row("db-reset", "--all", sub="migrate:rollback", options="all env= knexfile="),
            Row(
                "db-schema",
                sub="migrate:latest|migrate:up|migrate:down|migrate:rollback|seed:run",
                options="env= knexfile=",
            ),
        ),
        environment="env",
    ),
    "drizzle-kit": Program(
        (
            Row("db-reset", "--force", sub="push", options="force"),
            Row("db-schema", sub="push|migrate"),
            Row("db-reset", sub="drop"),
        )
    ),
    "alembic": Program(
        (
            Row("db-reset", "1:base", sub="downgrade"),
            Row("", "--sql", options="sql"),
            Row("db-schema", sub="upgrade|downgrade|stamp"),
        ),
        globals="c=,config= n=,name= x=",
        environment="c n x",
    ),
    "flask": Program(
        (Row("db-reset", "1:base", sub="db downgrade"), Row("db-schema", sub="db upgrade|db downgrade")),
        globals="A=,app= e=",
    ),
    "flyway": Program(
        (Row("db-reset", "*:clean"), Row("db-schema", "*:migrate|undo|repair|baseline")),
        options="url= user= password= locations= configFiles= environment= cleanDisabled=",
        environment="url environment",
    ),
    "liquibase": Program(
        (
            Row("db-reset", "*:dropAll|drop-all|dropall"),
            Row("db-schema", "*:update|rollback|rollback-count|update-count|changelog-sync"),
        ),
        options="url= username= password= changelog-file= changeLogFile= defaults-file=",
        environment="url",
    ),
    "goose": Program(
        (Row("db-reset", "*:reset|down-to"), Row("db-schema", "*:up|down|up-to|up-by-one|redo")),
        options="dir= table= s",
    ),
    "migrate": Program(
        (
            Row("db-reset", "*:drop"),
            Row("db-reset", "-a *:down", options="a,all"),
            Row("db-schema", "*:up|down|goto|force"),
        ),
        options="path= database= source= verbose",
        environment="database",
    ),
    "dbmate": Program(
        (Row("db-reset", sub="drop"), Row("db-schema", sub="up|migrate|rollback|down")),
        globals="u=,url= e=,env= d=",
        environment="u e",
    ),
    "atlas": Program(
        (Row("db-reset", sub="schema clean"), Row("db-schema", sub="schema apply|migrate apply")),
        options="u=,url= to= dev-url= auto-approve env=",
        environment="u env",
    ),
    "sqlx": Program(
        (
            Row("db-reset", sub="database drop|database reset|db drop|db reset"),
            Row("db-schema", sub="migrate run|migrate revert"),
        ),
        options="D=,database-url= y",
        environment="D",
    ),
    "diesel": Program(
        (
            Row("db-reset", sub="database reset|database drop"),
            Row("db-schema", sub="migration run|migration revert|migration redo|database setup"),
        ),
        globals="database-url=",
    ),
    "sea-orm-cli": Program(
        (
            Row("db-reset", sub="migrate fresh|migrate reset|migrate refresh"),
            Row("db-schema", sub="migrate up|migrate down|migrate"),
        )
    ),
    "dotnet-ef": Program(
        (Row("db-reset", sub="database drop"), Row("db-schema", sub="database update")), options="f,force c= p= s="
    ),
    "dotnet": Program((Row("db-reset", sub="ef database drop"), Row("db-schema", sub="ef database update"))),
    "hasura": Program((Row("db-schema", sub="migrate apply|metadata apply|migrate delete"),)),
    "drop": Program(effects=_typed, aka="delete alter grant"),
    "truncate": Program(
        (Row("", ("-s", "-r")), Row(_typed, "#>=1")), options="s=,size= r=,reference= c,no-create o,io-blocks"
    ),
}
