"""The tools of the agents. Each leaves a file behind, so that it shows which really ran."""
import os
import pathlib


def _touch(name):
    (pathlib.Path(os.environ["EFFECTS"]) / name).touch()


def fetch_doc(doc_id: str) -> dict:
    """Fetch a document."""
    _touch("fetch_doc")
    return {"title": doc_id.title(), "pages": 3, "text": "Tapedeck 1.4 keeps the runs that failed – and only those."}


def shorten(text: str, max_words: int) -> str:
    """Shorten a text."""
    _touch("shorten")
    return " ".join(text.split()[:max_words])


def count_words(text: str) -> int:
    """Count the words of a text."""
    _touch("count_words")
    return len(text.split())


def publish(channel: str, text: str) -> str:
    """Publish a text."""
    _touch("publish")
    raise RuntimeError(f"503 Service Unavailable: {channel}")
