"""Popular packages by registry, as of November 2026: names that slips and imitations are compared with."""

from __future__ import annotations

__all__ = ["POPULAR"]

POPULAR: dict[str, frozenset[str]] = {
    "pypi": frozenset(
        """
        aiohttp airflow anthropic asyncio attrs beautifulsoup4 black boto3 botocore celery certifi cffi
        charset-normalizer click colorama coverage cryptography dataclasses django djangorestframework
        docker fastapi flask gevent google gunicorn httpx idna jinja2 jsonschema jupyter keras langchain
        lxml markdown matplotlib mypy networkx nltk notebook numpy openai opencv-python packaging pandas
        paramiko pillow pipenv poetry protobuf psutil psycopg2 pyarrow pydantic pygments pyjwt pymongo
        pymysql pyqt5 pytest python-dateutil python-dotenv pytorch pytz pyyaml redis requests rich ruff
        scikit-learn scipy scrapy seaborn selenium sentry-sdk setuptools simplejson six sqlalchemy starlette
        streamlit sympy tensorflow toml torch torchvision tornado tqdm transformers twine typer
        typing-extensions urllib3 uvicorn virtualenv websockets werkzeug wheel xgboost
        """.split()
    ),
    "npm": frozenset(
        """
        angular async autoprefixer axios babel bluebird body-parser bootstrap chai chalk cheerio chokidar
        commander cookie-parser core-js cors cross-env dayjs debug dotenv electron ember esbuild eslint
        event-stream express fs-extra gatsby glob graphql grunt gulp handlebars helmet husky inquirer jest
        jquery jsonwebtoken knex koa left-pad lerna lodash luxon marked minimist mocha moment mongodb
        mongoose morgan mysql nanoid next nodemailer nodemon nuxt passport playwright pm2 postcss prettier
        prisma puppeteer ramda react react-dom react-native react-router redis redux request rimraf rollup
        rxjs sass semver sequelize sharp shelljs sinon socket.io styled-components svelte tailwindcss three
        ts-node typeorm typescript underscore uuid vite vitest vue webpack winston yargs zod
        """.split()
    ),
    "crates": frozenset(
        """
        actix-web anyhow async-trait axum base64 bytes chrono clap crossbeam diesel env_logger futures hyper
        itertools lazy_static libc log ndarray nom once_cell parking_lot rand rayon regex reqwest rocket
        rusqlite rustls serde serde_json sqlx structopt syn thiserror tokio toml tonic tracing url uuid warp
        """.split()
    ),
}
