import { Hono } from "hono";
import { handle } from "hono/aws-lambda";

const app = new Hono();
app.post("/runs", async (c) => {
  c.header("set-cookie", "a=1", { append: true });
  c.header("set-cookie", "b=2", { append: true });
  return c.json({ body: await c.req.json(), cookie: c.req.header("cookie"), agent: c.req.query("agent") }, 201);
});
app.get("/approvals/:waiter_id{.+}", (c) => c.json({ waiter_id: c.req.param("waiter_id") }));
app.post("/bytes", async (c) => {
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  return c.body(bytes.reverse(), 200, { "content-type": "application/octet-stream" });
});
app.get("/fails", () => {
  throw new Error("the app's own fault");
});

export const handler = handle(app);
