"""MiniStack as the deployment tests need it.

It runs for as long as standard input stays open: whoever started it may die in any way, and it goes too, with the functions it runs.
"""

import json
import os
import runpy
import signal
import sys
import threading

from ministack.core import iam_actions, lambda_runtime
from ministack.services import lambda_svc, stepfunctions

# A group of its own, so that killing the group reaches every function and nobody else.
os.setpgrp()


def end_with_starter():
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


# An answer to a waiting task is checked against the machine whose task it is: "is not authorized to perform: states:SendTaskFailure on
# resource: arn:aws:states:…:stateMachine:…", says AWS. MiniStack sees a token only and checks against "*", which no narrow policy
# allows; so note the machine of every token. Our states pass the execution's name with each.
machine_of_token = {}
invoke_with_callback = stepfunctions._invoke_with_callback
extract_resource_arn = iam_actions.extract_resource_arn


def invoke_and_note(resource, parameters, token, state):
    name = parameters["Payload"]["execution"]
    machine_of_token[token] = next(
        execution["stateMachineArn"] for execution in stepfunctions._executions.values() if execution["name"] == name
    )
    return invoke_with_callback(resource, parameters, token, state)


def resource_of(service, method, path, headers, body, *rest):
    token = json.loads(body or "{}").get("taskToken") if service == "states" else None
    return machine_of_token.get(token) or extract_resource_arn(service, method, path, headers, body, *rest)


stepfunctions._invoke_with_callback = invoke_and_note
iam_actions.extract_resource_arn = resource_of

# A function that throws is named in `errorType` by the error's own name, and Retry and Catch match on that. MiniStack says
# "Runtime.HandlerError" of every error; so have its Node worker tell the name, and pass it on.
script = lambda_runtime._NODEJS_WORKER_SCRIPT
lambda_runtime._NODEJS_WORKER_SCRIPT = script.replace('trace: err.stack || ""', 'name: err.name, trace: err.stack || ""')
if lambda_runtime._NODEJS_WORKER_SCRIPT == script:
    raise RuntimeError("expected MiniStack's Node worker to report errors as it did in 1.5.33: read it, and mend this file")
told = threading.local()
invoke_worker = lambda_runtime.Worker.invoke
execute_warm = lambda_svc._execute_function_warm


def invoke_and_hear(self, *args, **kwargs):
    result = invoke_worker(self, *args, **kwargs)
    told.name = result.get("name")
    return result


def execute_and_name(func, event, request_id):
    told.name = None
    result = execute_warm(func, event, request_id)
    if result.get("error") and told.name:
        result["body"]["errorType"] = told.name
    return result


lambda_runtime.Worker.invoke = invoke_and_hear
lambda_svc._execute_function_warm = execute_and_name

threading.Thread(target=end_with_starter, daemon=True).start()
sys.argv = ["ministack"]
runpy.run_module("ministack", run_name="__main__")
