import { createServer } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyError, classOfStatus } from "../../../shared/faults/classify.ts";
import { FailureClass } from "../../../shared/faults/failure-class.ts";
import { Fault } from "../../../shared/faults/fault.ts";
import { ComeBackLater, OperationUnknown } from "../../../shared/faults/faults.ts";

const socketError = (code: string, syscall?: string) =>
  Object.assign(new Error(`${syscall ?? "call"} ${code}`), { code, ...(syscall !== undefined && { syscall }) });

describe("an HTTP status says whether it happened", () => {
  it.each([
    [400, "final"],
    [401, "final"],
    [402, "final"],
    [403, "final"],
    [404, "final"],
    [405, "final"],
    [408, "unknown"],
    [409, "unknown"],
    [410, "final"],
    [413, "final"],
    [422, "final"],
    [429, "retryable"],
    [451, "final"],
    [500, "unknown"],
    [501, "unknown"],
    [502, "unknown"],
    [503, "retryable"],
    [504, "unknown"],
    [599, "unknown"],
    [200, "unknown"],
    [302, "unknown"],
    [101, "unknown"],
  ] as const)("%i is %s", (status, failureClass) => {
    expect(classOfStatus(status)).toBe(failureClass);
    const expected = { failureClass, code: `http_${status}`, httpStatus: status, retryAfterMs: undefined };
    expect(classifyError({ status })).toEqual(expected);
    expect(classifyError({ statusCode: status })).toEqual(expected);
    expect(classifyError({ $metadata: { httpStatusCode: status } })).toEqual(expected);
  });

  it.each([[0], [99], [600], [Number.NaN], ["500"], [null], [503.5]])("%s is no status, and says nothing", (status) => {
    expect(classifyError({ status })).toEqual({
      failureClass: "unknown",
      code: "thrown_object",
      httpStatus: undefined,
      retryAfterMs: undefined,
    });
  });
});

describe("a socket's error says whether anything was sent", () => {
  it.each([
    ["ECONNREFUSED", "connect", "retryable"],
    ["ENOTFOUND", "getaddrinfo", "retryable"],
    ["EAI_AGAIN", "getaddrinfo", "retryable"],
    ["EHOSTUNREACH", "connect", "retryable"],
    ["ENETUNREACH", "connect", "retryable"],
    ["CERT_HAS_EXPIRED", undefined, "retryable"],
    ["ECONNREFUSED", undefined, "retryable"],
    ["ECONNRESET", "read", "unknown"],
    ["EPIPE", "write", "unknown"],
    ["ETIMEDOUT", "connect", "unknown"],
    ["ETIMEDOUT", "read", "unknown"],
    ["UND_ERR_SOCKET", undefined, "unknown"],
    ["UND_ERR_HEADERS_TIMEOUT", undefined, "unknown"],
    ["ABORT_ERR", undefined, "unknown"],
    ["E_NEVER_HEARD_OF", undefined, "unknown"],
  ] as const)("%s while in %s is %s", (code, syscall, failureClass) => {
    expect(classifyError(socketError(code, syscall))).toEqual({
      failureClass,
      code: code.toLowerCase(),
      httpStatus: undefined,
      retryAfterMs: undefined,
    });
  });

  it.each([
    ["EHOSTUNREACH", "read"],
    ["ENETUNREACH", "write"],
    ["ECONNREFUSED", "read"],
  ])("%s while in %s comes from an open connection, over which a request may have left", (code, syscall) => {
    expect(classifyError(socketError(code, syscall)).failureClass).toBe("unknown");
  });

  it("a real refused connection is retryable, however the client wrapped it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await new Promise((resolve) => server.close(resolve));

    const error: unknown = await fetch(`http://127.0.0.1:${port}/`).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(classifyError(error)).toEqual({
      failureClass: "retryable",
      code: "econnrefused",
      httpStatus: undefined,
      retryAfterMs: undefined,
    });
  });

  it("a real connection that is cut after the request was sent is unknown", async () => {
    const server = createServer((socket) => socket.once("data", () => socket.resetAndDestroy())).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;

    const error: unknown = await fetch(`http://127.0.0.1:${port}/`).catch((thrown: unknown) => thrown);
    await new Promise((resolve) => server.close(resolve));
    expect(classifyError(error)).toMatchObject({ failureClass: "unknown", httpStatus: undefined });
  });
});

describe("an error inside another", () => {
  it("is found where SDKs put it", () => {
    const refused = socketError("ECONNREFUSED", "connect");
    expect(classifyError(new Error("fetch failed", { cause: refused })).failureClass).toBe("retryable");
    expect(classifyError(Object.assign(new Error("stripe"), { detail: refused })).failureClass).toBe("retryable");
    expect(classifyError(Object.assign(new Error("ai"), { lastError: { statusCode: 429 } })).code).toBe("http_429");
  });

  it("counts with its status even where the outer one has a code", () => {
    const outer = Object.assign(new Error("outer", { cause: { status: 400 } }), { code: "E_WRAPPED" });
    expect(classifyError(outer)).toMatchObject({ failureClass: "final", code: "http_400", httpStatus: 400 });
  });

  it("lets the outermost status decide: it is what the client made of the answer", () => {
    expect(classifyError({ status: 500, cause: { status: 400 } }).code).toBe("http_500");
  });

  it("is not looked for deeper than five errors", () => {
    const wrap = (depth: number): unknown => (depth === 0 ? { status: 400 } : { cause: wrap(depth - 1) });
    expect(classifyError(wrap(4)).failureClass).toBe("final");
    expect(classifyError(wrap(5)).failureClass).toBe("unknown");
  });

  it("may be itself: a cycle of causes ends", () => {
    const error = new Error("round");
    error.cause = error;
    expect(classifyError(error)).toMatchObject({ failureClass: "unknown", code: "Error" });
  });
});

describe("a fault keeps the class and code it was given", () => {
  it.each([
    [new Fault("content_policy", "final", "refused"), "final", "content_policy"],
    [new OperationUnknown("c5a7", "no answer"), "unknown", "operation_unknown"],
    [new ComeBackLater("settling", 5, "wait"), "retryable", "settling"],
    [Object.assign(new Fault("mine", "final", "x"), { status: 500 }), "final", "mine"],
  ] as const)("%s is %s", (fault, failureClass, code) => {
    expect(classifyError(fault)).toEqual({ failureClass, code, httpStatus: undefined, retryAfterMs: undefined });
  });
});

describe("retry-after", () => {
  it.each([
    ["a plain object", { headers: { "retry-after": "7" } }, 7_000],
    ["a Headers object", { headers: new Headers({ "Retry-After": "7" }) }, 7_000],
    ["the AI SDK's field", { responseHeaders: { "retry-after": "1.5" } }, 1_500],
    ["a number", { headers: { "retry-after": 2 } }, 2_000],
    ["zero", { headers: { "retry-after": "0" } }, 0],
    ["a cause", { cause: { headers: { "retry-after": "3" } } }, 3_000],
    ["a list of one", { headers: { "retry-after": ["4"] } }, 4_000],
    ["no header", { headers: {} }, undefined],
    ["an empty header", { headers: { "retry-after": "" } }, undefined],
    ["blanks", { headers: { "retry-after": "  " } }, undefined],
    ["null", { headers: { "retry-after": null } }, undefined],
    ["a flag", { headers: { "retry-after": true } }, undefined],
    [
      "a date, which needs the other side's clock",
      { headers: { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" } },
      undefined,
    ],
    ["a negative number", { headers: { "retry-after": "-5" } }, undefined],
    ["infinity", { headers: { "retry-after": "Infinity" } }, undefined],
    ["NaN", { headers: { "retry-after": Number.NaN } }, undefined],
    ["a symbol", { headers: { "retry-after": Symbol("s") } }, undefined],
    ["an object without a value", { headers: { "retry-after": Object.create(null) } }, undefined],
    ["headers that are none", { headers: "retry-after: 7" }, undefined],
  ])("is read from %s", (_what, error, expected) => {
    expect(classifyError({ status: 429, ...error }).retryAfterMs).toBe(expected);
  });

  it.each([["1e308"], ["99999999999999999999"], ["31536001"]])(
    "of %s s is cut to a year, the longest that an execution lives, so that it is still an instant",
    (asked) => {
      expect(classifyError({ status: 503, headers: { "retry-after": asked } }).retryAfterMs).toBe(31_536_000_000);
    },
  );
});

describe("whatever is thrown", () => {
  it.each([
    ["nothing", undefined, "thrown_undefined"],
    ["null", null, "thrown_object"],
    ["a text", "boom", "thrown_string"],
    ["a number", 42, "thrown_number"],
    ["a function", () => 1, "thrown_function"],
    ["an error", new RangeError("far"), "RangeError"],
    ["an abort", new DOMException("time is up", "TimeoutError"), "TimeoutError"],
    ["an error whose name is no text", Object.assign(new Error("x"), { name: 7 }), "thrown_object"],
    ["an error whose name is empty", Object.assign(new Error("x"), { name: "" }), "thrown_object"],
    ["a code that is no text", { code: 14 }, "thrown_object"],
    ["an empty code", { code: "" }, "thrown_object"],
  ])("%s is unknown, and named", (_what, thrown, code) => {
    expect(classifyError(thrown)).toEqual({
      failureClass: "unknown",
      code,
      httpStatus: undefined,
      retryAfterMs: undefined,
    });
  });

  it("gets a code short enough to store, however long its own is", () => {
    expect(classifyError({ code: "X".repeat(1_000_000) }).code).toBe("x".repeat(100));
    expect(classifyError(Object.assign(new Error(""), { name: "N".repeat(1_000_000) })).code).toBe("N".repeat(100));
  });

  it("is unknown where it cannot even be looked at", () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("hands off");
        },
        has: () => {
          throw new Error("hands off");
        },
        getPrototypeOf: () => {
          throw new Error("hands off");
        },
      },
    );
    expect(classifyError(hostile)).toEqual({
      failureClass: "unknown",
      code: "unreadable",
      httpStatus: undefined,
      retryAfterMs: undefined,
    });
    expect(classifyError(new Error("outer", { cause: hostile }))).toMatchObject({ failureClass: "unknown" });
  });

  it("is classified, never thrown again, and what is not known is unknown", () => {
    const bag = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSet: true,
    });
    const part = fc.oneof(bag, fc.constantFrom("ECONNREFUSED", "EPIPE"), fc.integer({ min: 0, max: 700 }), fc.double());
    const shaped = fc.record(
      {
        status: part,
        statusCode: part,
        $metadata: fc.oneof(bag, fc.record({ httpStatusCode: part })),
        code: part,
        syscall: part,
        name: part,
        headers: fc.oneof(bag, fc.record({ "retry-after": part })),
        cause: bag,
        detail: bag,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          bag,
          shaped,
          shaped.map((fields) => Object.assign(new Error("x"), fields)),
        ),
        (thrown) => {
          const classified = classifyError(thrown);
          expect(FailureClass.options).toContain(classified.failureClass);
          expect(classified.code).toMatch(/^.{1,100}$/su);
          const { retryAfterMs, httpStatus } = classified;
          if (retryAfterMs !== undefined) expect(retryAfterMs >= 0 && retryAfterMs <= 31_536_000_000).toBe(true);
          if (httpStatus === undefined && classified.failureClass !== "unknown") {
            expect(classified.failureClass).toBe("retryable");
            expect(classified.code).toBe("econnrefused");
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
