"""Downloads the source archive of one release from the package index that pip is configured for, and nothing else.

`pip download` of a source archive also runs its build to ask for metadata, which takes minutes and wants build tools;
here the index page is read, the file fetched, and its sha256 compared. Mirrors, extra indexes, local find-links folders
and certificates are taken from pip's own configuration (pip.conf, PIP_INDEX_URL and so on), proxies from the usual
variables. Standard library only.
"""
import argparse
import base64
import hashlib
import html.parser
import os
import re
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request


def pip_setting(name, settings):
    """The last of what pip's files say, then what the environment says; both as pip itself merges them."""
    variable = os.environ.get("PIP_" + name.upper().replace("-", "_"))
    if variable is not None:
        return variable
    found = ""
    for key, value in settings:
        if key in ("global." + name, "download." + name, "install." + name):
            found = value
    return found


def read_pip_settings():
    """Pairs of key and value; none where there is no pip, then the defaults hold."""
    try:
        listing = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True)
    except OSError:
        return []
    return re.findall(r"^([\w.:-]+)='(.*)'$", listing.stdout, re.MULTILINE)


class LinkParser(html.parser.HTMLParser):
    """Collects the links of a simple index page (PEP 503)."""

    def __init__(self):
        super().__init__()
        self.links = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.links.extend(value for name, value in attrs if name == "href" and value)


def open_url(url, context):
    # urllib does not take a user and password out of an address, as mirrors are often given.
    parts = urllib.parse.urlsplit(url)
    headers = {"User-Agent": "hbmscope-build", "Accept": "text/html"}
    if parts.username:
        user = urllib.parse.unquote(parts.username) + ":" + urllib.parse.unquote(parts.password or "")
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
        host = parts.hostname + (":%d" % parts.port if parts.port else "")
        parts = parts._replace(netloc=host)
    request = urllib.request.Request(urllib.parse.urlunsplit(parts), headers=headers)
    return urllib.request.urlopen(request, timeout=60, context=context if parts.scheme == "https" else None)


def find_links_on_page(page_url, file_name, context):
    with open_url(page_url, context) as page:
        parser = LinkParser()
        parser.feed(page.read().decode("utf-8", "replace"))
        base = page.geturl()
    source = urllib.parse.urlsplit(page_url)
    for link in parser.links:
        url = urllib.parse.urldefrag(urllib.parse.urljoin(base, link)).url
        parts = urllib.parse.urlsplit(url)
        if os.path.basename(urllib.parse.unquote(parts.path)) != file_name:
            continue
        if parts.netloc == source.netloc.rpartition("@")[2]:  # The mirror's user holds for its files too.
            url = urllib.parse.urlunsplit(parts._replace(netloc=source.netloc))
        yield url


def find_sources(project, file_name, context, settings):
    """Everything the file may be taken from, as addresses, in the order to try."""
    for folder in pip_setting("find-links", settings).split():
        path = folder[7:] if folder.startswith("file://") else folder
        if os.path.isfile(os.path.join(path, file_name)):
            yield "file://" + urllib.request.pathname2url(os.path.abspath(os.path.join(path, file_name)))
    if pip_setting("no-index", settings).lower() in ("1", "true", "yes", "on"):
        return
    indexes = [pip_setting("index-url", settings) or "https://pypi.org/simple"]
    indexes += pip_setting("extra-index-url", settings).replace("\\n", " ").split()
    for index in indexes:
        page_url = "%s/%s/" % (index.rstrip("/"), project)
        try:
            yield from find_links_on_page(page_url, file_name, context)
        except (OSError, ValueError) as error:
            shown = re.sub(r"//[^/@]*@", "//", page_url)  # A password has no business in a log.
            print("%s: %s" % (shown, error), file=sys.stderr)


def download(url, out, sha256, context):
    """True when `out` is there with the right hash; a half or wrong file never gets that name."""
    part = "%s.%d.part" % (out, os.getpid())
    digest = hashlib.sha256()
    try:
        with open_url(url, context) as source, open(part, "wb") as sink:
            while block := source.read(1 << 20):
                digest.update(block)
                sink.write(block)
        if digest.hexdigest() != sha256:
            print("%s: sha256 is %s, expected %s" % (os.path.basename(out), digest.hexdigest(), sha256), file=sys.stderr)
            return False
        os.replace(part, out)
        return True
    except OSError as error:
        print("%s: %s" % (os.path.basename(out), error), file=sys.stderr)
        return False
    finally:
        if os.path.exists(part):
            os.remove(part)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("project")
    parser.add_argument("version")
    parser.add_argument("--sha256", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()

    settings = read_pip_settings()
    context = ssl.create_default_context(cafile=pip_setting("cert", settings) or None)
    file_name = "%s-%s.tar.gz" % (arguments.project.replace("-", "_"), arguments.version)
    for url in find_sources(arguments.project, file_name, context, settings):
        if download(url, arguments.out, arguments.sha256, context):
            return 0
    print("%s was not found in the configured package index, or could not be read." % file_name, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
