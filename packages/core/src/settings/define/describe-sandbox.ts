/** Says in words what a server may reach from its sandbox. */

import type { SandboxSettings, ServerDefinition } from "./definition.ts";

/** `reads ~/notes, writes ~/out, reaches api.example.com`, or `no network`. Escape it before you show it. */
export function describeSandbox({ read, write, hosts, tcp, env }: SandboxSettings, home: string): string {
  const paths = (list: readonly string[]) => list.map((path) => shortened(path, home)).join(" and ");
  const reached = [...hosts.map((host) => host.replace(/:443$/, "")), ...tcp];
  return [
    read.length > 0 ? `reads ${paths(read)}` : undefined,
    write.length > 0 ? `writes ${paths(write)}` : undefined,
    env.length > 0 ? `gets ${env.join(" and ")}` : undefined,
    reached.length > 0 ? `reaches ${reached.join(" and ")}` : "no network",
  ]
    .filter((part) => part !== undefined)
    .join(", ");
}

/** One line about a program: `sandboxed: reads ~/notes, no network`. Undefined for a server with a URL. */
export function sandboxLine({
  transport,
  sandbox,
  base,
}: Pick<ServerDefinition, "transport" | "sandbox" | "base">): string | undefined {
  if (transport.kind !== "stdio") return undefined;
  return sandbox === undefined ? "not sandboxed" : `sandboxed: ${describeSandbox(sandbox, base.home)}`;
}

/** The profile as it stands in `--json` documents. Undefined for a server with a URL. */
export function sandboxDocument({ transport, sandbox }: ServerDefinition): object | "off" | undefined {
  if (transport.kind !== "stdio") return undefined;
  if (sandbox === undefined) return "off";
  const { read, write, hosts, tcp, env } = sandbox;
  return { read, write, hosts, tcp, env };
}

function shortened(path: string, home: string): string {
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
