import { Hono } from "hono";
import { z } from "zod";
import type { Releases } from "../../shared/release/releases.ts";
import type { RunPorts } from "../../shared/run/ports.ts";
import { checkRequest } from "./check-request.ts";
import { findReleases } from "./find-releases.ts";
import { refuseInOneShape } from "./problem.ts";

const ReleasesQuery = z.strictObject({ agent: z.string().min(1).optional() });

/** `GET /releases` says which versions there are, and which of them open runs still need. */
export function createReleasesApp(agents: readonly string[], ports: RunPorts & { readonly releases: Releases }): Hono {
  const app = new Hono();
  refuseInOneShape(app, ports.logger);
  app.get("/releases", async (c) => {
    const { agent } = checkRequest(ReleasesQuery, c.req.query());
    return c.json(await findReleases(agent, agents, ports));
  });
  return app;
}
