import { completeScript } from "../../infra/drill/complete-script.ts";
import { judgeCase, type Violation } from "../../infra/drill/judge-case.ts";
import { playCase } from "../../infra/drill/play-case.ts";
import refundScript from "../../infra/drill/refund-agent.drill.ts";
import type { Strike } from "../../infra/drill/strike.ts";
import type { AdmittedCall } from "../../infra/in-process/port-call.ts";

/** Plays the refund agent with one fault, at the first call of a clean run that fits, and says what is broken. */
export async function refundCase(
  kind: Strike["kind"],
  fits: (call: AdmittedCall) => boolean,
): Promise<readonly Violation[]> {
  const script = completeScript(refundScript);
  const clean = await playCase(script, 1, []);
  const call = clean.trace.find(fits)?.n;
  if (call === undefined) throw new Error("no call of a clean run fits");
  return judgeCase(script.agent, await playCase(script, 1, [{ call, kind }]), clean);
}
