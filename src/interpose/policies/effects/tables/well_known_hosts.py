"""Hosts that others imitate, and shorteners of addresses, as of November 2026."""

from __future__ import annotations

__all__ = ["SHORTENERS", "WELL_KNOWN_HOSTS"]

WELL_KNOWN_HOSTS: tuple[str, ...] = tuple(
    """
    amazonaws.com anaconda.com anthropic.com apache.org apple.com archlinux.org astral.sh atlassian.com bitbucket.org
    brew.sh bun.sh claude.ai cloudflare.com crates.io debian.org deno.land docker.com docker.io dropbox.com
    facebook.com fedoraproject.org ghcr.io github.com githubusercontent.com gitlab.com gnu.org golang.org google.com
    googleapis.com hashicorp.com heroku.com huggingface.co jetbrains.com kernel.org kubernetes.io linkedin.com maven.org
    microsoft.com mozilla.org netlify.com nixos.org nodejs.org npmjs.com npmjs.org nvidia.com openai.com oracle.com
    paypal.com postgresql.org pypi.org python.org pythonhosted.org pytorch.org quay.io readthedocs.io redhat.com
    rubygems.org rust-lang.org rustup.rs slack.com sourceforge.net stackoverflow.com stripe.com tensorflow.org
    terraform.io twitter.com ubuntu.com vercel.com visualstudio.com wikimedia.org wikipedia.org yarnpkg.com
    """.split()
)
SHORTENERS = frozenset(
    """
    adf.ly bit.do bit.ly bl.ink buff.ly cutt.ly goo.gl is.gd lnkd.in ow.ly rb.gy rebrand.ly s.id short.io shorturl.at
    soo.gd t.co t.ly tiny.cc tiny.one tinyurl.com trib.al v.gd x.co
    """.split()
)
