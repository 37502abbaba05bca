"""Spans by OTLP to where the standard variables say, all sent before the end."""
import atexit

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor


def provider():
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(made)
    atexit.register(made.shutdown)
    return made
