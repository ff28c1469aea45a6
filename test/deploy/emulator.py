"""MiniStack as the deployment tests need it.

It runs for as long as standard input stays open: whoever started it may die in any way, and it goes too, with the functions it runs.
"""

import json
import os
import runpy
import signal
import sys
import threading

from ministack.core import iam_actions
from ministack.services import stepfunctions

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

threading.Thread(target=end_with_starter, daemon=True).start()
sys.argv = ["ministack"]
runpy.run_module("ministack", run_name="__main__")
