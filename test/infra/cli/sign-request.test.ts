import { afterEach, describe, expect, it, vi } from "vitest";
import { signRequest } from "../../../infra/cli/sign-request.ts";

describe("a request of the command", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("to a deployed API is signed for its region with the caller's credentials, body and all", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    vi.stubEnv("AWS_SESSION_TOKEN", "session");
    const url = "https://abc123.execute-api.eu-west-1.amazonaws.com/runs";
    const signed = await signRequest(new Request(url, { method: "POST", body: '{"agent":"refund-agent"}' }));
    expect(signed.headers.get("authorization")).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/execute-api\/aws4_request, SignedHeaders=.*x-amz-security-token.*, Signature=[0-9a-f]{64}$/u,
    );
    expect(signed.headers.get("x-amz-security-token")).toBe("session");
    expect(await signed.text()).toBe('{"agent":"refund-agent"}');
  });

  it("carries the token of the environment instead, and never without TLS", async () => {
    vi.stubEnv("SUREFOOT_TOKEN", "a.b.c");
    for (const url of ["https://abc123.execute-api.eu-west-1.amazonaws.com/runs", "https://agents.example.com/runs"]) {
      expect((await signRequest(new Request(url))).headers.get("authorization")).toBe("Bearer a.b.c");
    }
    expect((await signRequest(new Request("http://agents.example.com/runs"))).headers.has("authorization")).toBe(false);
  });

  it("to this machine, or to a host that only looks like a deployed API, carries no signature", async () => {
    for (const url of [
      "http://127.0.0.1:4310/runs",
      "https://abc.execute-api.eu-west-1.amazonaws.com.example.com/runs",
    ]) {
      const request = new Request(url);
      expect(await signRequest(request)).toBe(request);
    }
  });
});
