/** Connections side by side, as a host keeps them, without the host: each is found by its name. */

import { systemClock } from "../../src/clock.ts";
import type { MCPDiscoveryState, ServerState } from "../../src/events.ts";
import { Connection, type ConnectionLife, type ConnectionOptions } from "../../src/server/connection.ts";
import { ConnectionGroup, type ConnectionGroupOptions } from "../../src/server/connection-group.ts";

export interface FleetServer extends Pick<ConnectionLife, "isProgram"> {
  readonly open: ConnectionOptions["open"];
}

export interface FleetOptions extends Omit<ConnectionGroupOptions, "onDiscovery"> {
  readonly recover?: boolean;
  readonly onState?: ConnectionOptions["onState"];
  readonly onNews?: ConnectionOptions["onNews"];
  readonly onDiscovery?: (state: MCPDiscoveryState) => void;
}

export class Fleet {
  readonly group: ConnectionGroup;
  readonly #connections: ReadonlyMap<string, Connection>;

  constructor(servers: Readonly<Record<string, FleetServer>>, options: FleetOptions = {}) {
    const { recover = false, onState, onNews, clock = systemClock, random, ...shared } = options;
    this.group = new ConnectionGroup({ ...shared, clock, random });
    this.#connections = new Map(
      Object.entries(servers).map(([name, { open, isProgram }]) => [
        name,
        new Connection(
          { definition: { name, excludeTools: [] }, open, connectTimeout: 30_000, clock, random, onState, onNews },
          { group: this.group, recover, isProgram },
        ),
      ]),
    );
  }

  get(name: string): Connection {
    const connection = this.#connections.get(name);
    if (connection === undefined) throw new Error(`no server "${name}"`);
    return connection;
  }

  states(): readonly ServerState[] {
    return [...this.#connections.values()].map(({ state }) => state);
  }

  ready(name: string, signal?: AbortSignal): Promise<Connection> {
    return this.get(name).ready(signal);
  }

  async start(...names: readonly string[]): Promise<void> {
    await this.group.discover(this.#meant(names).map((connection) => () => connection.startAnew()));
  }

  async restart(...names: readonly string[]): Promise<void> {
    const stopped = await Promise.all(this.#meant(names).map((connection) => connection.stopForRestart()));
    await this.group.discover(stopped);
  }

  async stop(...names: readonly string[]): Promise<void> {
    if (names.length === 0) this.group.rest();
    await Promise.all(this.#meant(names).map((connection) => connection.stop()));
  }

  /** The named ones; without names, all. */
  #meant(names: readonly string[]): readonly Connection[] {
    return names.length === 0 ? [...this.#connections.values()] : names.map((name) => this.get(name));
  }
}
