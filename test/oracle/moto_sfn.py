"""moto's Step Functions interpreter (derived from LocalStack's) as an endpoint of its own: an oracle that nobody here wrote.

Usage: moto_sfn.py --lambda-port <port> [--port <port, default a free one>] [--directed <speed>]

Listens on 127.0.0.1 only, prints {"port"} once it answers, and ends with its standard input. What differs from stock moto, and why:

- Executions run. Stock moto only pretends unless its configuration says otherwise.
- StartExecution copies state machines without their live executions. Stock moto deep-copies threads: a 500.
- One Lambda client serves all invocations. Stock moto builds one each time, which takes longer than the invocation.

With --directed, a test directs time, so that no outcome depends on how busy the machine is:

- A Retry's pause is printed as {"execution", "state", "retry_after_seconds"} and not slept; jitter draws the middle of its range.
- A Task's TimeoutSeconds is over when a line {"execution", "state"} on standard input says so, and not before. A Task without it
  cannot be made to time out.
- A Wait passes <speed> times as fast.

Nothing here touches how states, errors, Retry, Catch, paths or the history are interpreted.
"""

import argparse
import copy
import functools
import json
import os
import sys
import threading
import time
from types import SimpleNamespace


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def run_executions():
    from moto.core.config import default_user_config

    default_user_config["stepfunctions"]["execute_state_machine"] = True


def copy_without_executions():
    import moto.stepfunctions.parser.models as models

    def shallow(value):
        twin = copy.copy(value)
        if hasattr(twin, "executions"):
            twin.executions = value.executions
        return twin

    models.copy = SimpleNamespace(deepcopy=shallow)


def print_retry_pauses():
    from moto.stepfunctions.parser.asl.component.common.retry import jitter_strategy_decl, retrier_decl

    current = threading.local()
    evaluate = retrier_decl.RetrierDecl._eval_body

    def evaluate_in(self, env):
        current.env = env
        evaluate(self, env)

    def report(seconds):
        execution = current.env.states.context_object.context_object_data["Execution"]["Name"]
        say({"execution": execution, "state": current.env.next_state_name, "retry_after_seconds": seconds})

    retrier_decl.RetrierDecl._eval_body = evaluate_in
    retrier_decl.time = SimpleNamespace(sleep=report)
    jitter_strategy_decl.random = SimpleNamespace(uniform=lambda low, high: (low + high) / 2)


def direct_timeouts():
    """Returns what lets the time of (execution, state) run out."""
    from moto.stepfunctions.parser.asl.component.common.timeouts.timeout import TimeoutSeconds
    from moto.stepfunctions.parser.asl.component.state.exec import execute_state

    current = threading.local()
    lock = threading.Lock()
    waiting = {}
    early = set()
    evaluate = execute_state.ExecutionState._evaluate_with_timeout

    def evaluate_in(self, env):
        current.key = (env.states.context_object.context_object_data["Execution"]["Name"], self.name)
        evaluate(self, env)

    class DirectedEvent(threading.Event):
        ran_out = False

        def wait(self, timeout=None):
            if timeout is None or timeout >= TimeoutSeconds.DEFAULT_TIMEOUT_SECONDS:
                return super().wait()
            key = current.key
            with lock:
                if key in early:
                    early.discard(key)
                    return False
                waiting[key] = self
            super().wait()
            with lock:
                del waiting[key]
            return not self.ran_out

    def run_out(key):
        with lock:
            event = waiting.get(key)
            if event is None:
                early.add(key)
            else:
                event.ran_out = True
                event.set()

    execute_state.ExecutionState._evaluate_with_timeout = evaluate_in
    execute_state.threading = SimpleNamespace(Event=DirectedEvent)
    return run_out


def shorten_waits(speed):
    from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction

    def wait_interval(self, env, wait_seconds):
        until = time.monotonic() + wait_seconds / speed
        while env.is_running() and time.monotonic() < until:
            env.program_state_event.wait(max(0, until - time.monotonic()))

    WaitFunction._wait_interval = wait_interval


def share_clients():
    from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

    create = lambda_eval_utils.boto_client_for
    lock = threading.Lock()

    @functools.cache
    def shared(region, service):
        return create(region=region, service=service)

    def client_for(region, service, state_credentials=None):
        with lock:
            return shared(region, service)

    lambda_eval_utils.boto_client_for = client_for


def read_directions(run_out):
    def read():
        for line in sys.stdin:
            direction = json.loads(line)
            run_out((direction["execution"], direction["state"]))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--lambda-port", type=int, required=True)
    options.add_argument("--directed", type=float)
    chosen = options.parse_args()

    # Where a Task's Lambda call goes, and an account with the same number as the local runner's.
    os.environ["MOTO_PORT"] = str(chosen.lambda_port)
    os.environ["MOTO_ACCOUNT_ID"] = "000000000000"

    run_executions()
    copy_without_executions()
    share_clients()
    run_out = None
    if chosen.directed is not None:
        print_retry_pauses()
        shorten_waits(chosen.directed)
        run_out = direct_timeouts()
    read_directions(run_out)

    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class QuietHandler(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_request(self, *_args):
            pass

    application = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", chosen.port, application, threaded=True, request_handler=QuietHandler)
    say({"port": server.server_port})
    server.serve_forever()


main()
