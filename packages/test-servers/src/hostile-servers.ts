/** Servers with one hostile behaviour each, over stdio and HTTP, in both protocol eras. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { programServer } from "./stdio-server.ts";

export interface HostileServer {
  readonly behaviour: string;
  readonly era: "legacy" | "modern";
  readonly transport: "stdio" | "http";
}

export interface HostileServers extends AsyncDisposable {
  /** Every behaviour, in each era, on each transport that it exists for. */
  readonly all: readonly HostileServer[];
  /** Returns the server's entry for a settings file. `seed`: of what the behaviour does at random. */
  entry(server: HostileServer, seed: number): object;
}

/** Starts one process that serves the behaviours over HTTP. On stdio, each server is a process of its own. */
export async function hostileServers(): Promise<HostileServers> {
  const { command, args } = programServer("hostile");
  const listed = execFileSync(command, [...args, "list"], { encoding: "utf8" });
  const names = JSON.parse(listed) as Readonly<Record<HostileServer["transport"], readonly string[]>>;
  const web = spawn(command, [...args, "http"], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(web, "exit");
  const [origin] = (await once(createInterface({ input: web.stdout }), "line")) as [string];
  const all = (["stdio", "http"] as const).flatMap((transport) =>
    (["legacy", "modern"] as const).flatMap((era) =>
      names[transport].map((behaviour) => ({ behaviour, era, transport })),
    ),
  );
  return {
    all,
    entry: ({ behaviour, era, transport }, seed) =>
      transport === "http"
        ? { httpUrl: `${origin}/${behaviour}/${era}/${seed}` }
        : programServer("hostile", behaviour, era, String(seed)),
    async [Symbol.asyncDispose]() {
      web.stdin.end();
      await exited;
    },
  };
}
