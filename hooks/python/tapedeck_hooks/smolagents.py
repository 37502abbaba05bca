"""smolagents: Tool.__call__, which tool calls and code agents use alike.

final_answer ends a run and touches nothing: it is answered and runs all the same.
"""
import functools

from .ask import Order, ask, given, hooked, once, runs


def hook(module):
    call = module.Tool.__call__
    if hooked(call):
        return

    @once
    @functools.wraps(call)
    def answered(self, *args, sanitize_inputs_outputs=False, **kwargs):
        if runs(self):
            return call(self, *args, sanitize_inputs_outputs=sanitize_inputs_outputs, **kwargs)
        asked = _arguments(self, args, kwargs)
        answer = ask(self.name, asked)
        if isinstance(answer, Order):
            return answer.run(self, lambda others: call(
                self, *(() if others else args), sanitize_inputs_outputs=sanitize_inputs_outputs,
                **({**asked, **others} if others else kwargs)))
        if self.name == "final_answer":
            return call(self, *args, sanitize_inputs_outputs=sanitize_inputs_outputs, **kwargs)
        result = given(answer)
        if sanitize_inputs_outputs:
            result = module.handle_agent_output_types(result, self.output_type)
        return result

    module.Tool.__call__ = answered


def _arguments(tool, args, kwargs):
    if len(args) == 1 and not kwargs and isinstance(args[0], dict) and all(name in tool.inputs for name in args[0]):
        return args[0]
    return {**dict(zip(tool.inputs, args)), **kwargs}
