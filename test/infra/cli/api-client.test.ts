import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { apiClient } from "../../../infra/cli/api-client.ts";
import { type Exchange, type HttpServer, listenHttp } from "../../../infra/local/downstreams/http-server.ts";

let stub: HttpServer;
let answer: (exchange: Exchange) => void;
beforeEach(async () => {
  stub = await listenHttp(0, async (exchange) => answer(exchange));
});
afterEach(() => stub.close());

describe("an answer that is none of Surefoot's", () => {
  test.each([
    [403, { message: "Forbidden" }, 1, "the API answered 403 (Forbidden): may your AWS credentials call it?"],
    [404, { message: "Not Found" }, 2, "the API answered 404 (Not Found): is it Surefoot's API?"],
    [413, { message: "Request Entity Too Large" }, 2, "the API answered 413 (Request Entity Too Large): see"],
    [503, { message: "Service Unavailable" }, 1, "the API answered 503 (Service Unavailable): try again, then look at"],
    [500, [], 1, "the API answered 500: try again"],
  ])("%i with %j is told in one sentence with what to do", async (status, body, exitCode, message) => {
    answer = (exchange) => exchange.answer(status, body);

    await expect(apiClient(stub.url).get("/runs")).rejects.toMatchObject({
      exitCode,
      code: `http_${status}`,
      message: expect.stringContaining(message) as string,
    });
  });

  test("a page that is no JSON is told as what it is", async () => {
    const { createServer } = await import("node:http");
    const page = createServer((_request, response) => response.end("<html>"));
    await new Promise<void>((listening) => page.listen(0, "127.0.0.1", listening));
    const { port } = page.address() as { port: number };

    await expect(apiClient(`http://127.0.0.1:${port}`).get("/runs")).rejects.toMatchObject({
      exitCode: 1,
      code: "not_surefoot",
    });
    page.closeAllConnections();
    await new Promise((closed) => page.close(closed));
  });

  test("an address ends with or without a slash", async () => {
    answer = (exchange) => exchange.answer(200, { path: exchange.path });

    expect(await apiClient(`${stub.url}/`).get("/runs")).toEqual({ path: "/runs" });
    expect(await apiClient(stub.url).get("/runs")).toEqual({ path: "/runs" });
  });
});
