/** What `fairlead mcp import` says and writes, for its tests. */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { type Machine, userFile } from "./machine.ts";

export const cursorFile = "home/.cursor/mcp.json";
export const codexFile = "home/.codex/config.toml";
export const projectMcpFile = "project/.mcp.json";

export interface Document {
  readonly written: boolean;
  readonly target: { readonly scope: string; readonly file: string };
  readonly sources: readonly { readonly program: string; readonly state: string }[];
  readonly servers: readonly {
    readonly name: string;
    readonly action: string;
    readonly target: { readonly scope: string; readonly file: string };
    readonly entry: object;
    readonly enabled: boolean;
    readonly remarks: readonly { readonly kind: string; readonly key: string; readonly next?: string }[];
  }[];
  readonly secrets?: readonly { readonly server: string; readonly key: string; readonly name: string }[];
  readonly undo?: readonly string[];
}

export async function importJson(host: Machine, ...argv: readonly string[]): Promise<Document> {
  const { code, stdout, stderr } = await host.run("mcp", "import", "--json", ...argv);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

export async function settings(host: Machine, file = userFile): Promise<unknown> {
  return JSON.parse(await host.read(file));
}

export function actions({ servers }: Document): readonly string[] {
  return servers.map(({ name, action }) => `${name}: ${action}`);
}

export async function isThere(host: Machine, file: string): Promise<boolean> {
  return stat(join(host.path, file)).then(
    () => true,
    () => false,
  );
}
