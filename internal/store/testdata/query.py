"""Runs the statements of a JSON list one after the other, and prints the rows of
each as a JSON list of objects on a line of its own."""

import json
import sys

import duckdb

connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
for statement in json.load(sys.stdin):
    result = connection.execute(statement)
    names = [column[0] for column in result.description]
    rows = [dict(zip(names, row)) for row in result.fetchall()]
    print(json.dumps(rows, default=str))
