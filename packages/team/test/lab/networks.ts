/**
 * A network of its own for each replica, where this machine permits it (root, with `ip` of iproute2): namespaces with an
 * address on a bridge. A replica then reaches PostgreSQL by its socket, and the issuer and the server behind the gateway by
 * forwarders; the callers reach it at its address.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const forwarder = fileURLToPath(new URL("../programs/forwarder.mjs", import.meta.url));

export interface Network {
  readonly address: string;
  /** What a program's command begins with, to run in this network. */
  readonly command: readonly string[];
}

export class Networks implements AsyncDisposable {
  readonly networks: readonly Network[];
  readonly #names: readonly string[];
  readonly #bridge: string;
  readonly #forwarders: readonly ChildProcess[];

  private constructor(names: readonly string[], bridge: string, subnet: string, forwarders: readonly ChildProcess[]) {
    this.#names = names;
    this.#bridge = bridge;
    this.#forwarders = forwarders;
    this.networks = names.map((name, at) => ({ address: `${subnet}.${11 + at}`, command: inNetwork(name) }));
  }

  /**
   * Undefined where it is not permitted.
   *
   * @param ports The ports of this machine's loopback address that programs in the networks reach at theirs.
   */
  static async open(count: number, ports: readonly number[]): Promise<Networks | undefined> {
    const bridge = `fl${process.pid.toString(36)}b${randomInt(36 ** 3).toString(36)}`;
    const subnet = `10.${randomInt(128, 255)}.${randomInt(256)}`;
    const names = Array.from({ length: count }, (_, at) => `${bridge}-${at + 1}`);
    const isMade = [
      ["link", "add", bridge, "type", "bridge"],
      ["addr", "add", `${subnet}.1/24`, "dev", bridge],
      ["link", "set", bridge, "up"],
      ...names.flatMap((name, at) => [
        ["netns", "add", name],
        ["link", "add", `${bridge}v${at}`, "type", "veth", "peer", "name", "eth0", "netns", name],
        ["link", "set", `${bridge}v${at}`, "master", bridge, "up"],
        ["-n", name, "link", "set", "lo", "up"],
        ["-n", name, "addr", "add", `${subnet}.${11 + at}/24`, "dev", "eth0"],
        ["-n", name, "link", "set", "eth0", "up"],
      ]),
    ].every(ip);
    if (!isMade) {
      remove(names, bridge);
      return undefined;
    }
    // One listens at the bridge, the others in the networks.
    const pairs = [
      { command: [], from: `${subnet}.1`, to: "127.0.0.1" },
      ...names.map((name) => ({ command: inNetwork(name), from: "127.0.0.1", to: `${subnet}.1` })),
    ];
    const forwarders = await Promise.all(
      pairs.map(async ({ command, from, to }) => {
        const [program = "", ...args] = [...command, process.execPath, forwarder, from, to, ...ports.map(String)];
        const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
        await once(createInterface(child.stdout), "line");
        return child;
      }),
    );
    return new Networks(names, bridge, subnet, forwarders);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#forwarders) {
      const gone = once(child, "close");
      child.kill("SIGKILL");
      await gone;
    }
    remove(this.#names, this.#bridge);
  }
}

function inNetwork(name: string): readonly string[] {
  return ["ip", "netns", "exec", name];
}

function ip(args: readonly string[]): boolean {
  return spawnSync("ip", args, { stdio: "ignore" }).status === 0;
}

function remove(names: readonly string[], bridge: string): void {
  for (const name of names) ip(["netns", "del", name]);
  ip(["link", "del", bridge]);
}
