import { hash } from "node:crypto";
import { HostError } from "@fairlead/core";
import type { ConfigKind, ConfigStore, ConfigVersion, NewConfig } from "../configs.ts";
import type { Hints } from "../hints.ts";
import type { Database } from "./database.ts";
import { boundedText, withoutNul } from "./values.ts";

/** Longest policy or settings, in characters. Every replica reads them. */
const longestBody = 1_000_000;

interface ConfigRow {
  readonly version: string;
  readonly tenant: number;
  readonly kind: ConfigKind;
  readonly body: string;
  readonly sha256: string;
  readonly author: string;
  readonly at: Date;
}

export class PostgresConfigs implements ConfigStore {
  readonly #database: Database;
  readonly #hints: Hints;

  constructor(database: Database, hints: Hints) {
    this.#database = database;
    this.#hints = hints;
  }

  async push(config: NewConfig, expected?: number): Promise<ConfigVersion> {
    const { tenant, kind, author } = config;
    const body = withoutNul(config.body);
    if (body.length > longestBody)
      throw new HostError("too_large", `the ${kind} is too long: it has more than ${longestBody} characters`);
    const pushed = await this.#database.transaction(async (run) => {
      // One push at a time: with a sequence, a version could become visible after a larger one.
      await run("lock table configs in share row exclusive mode");
      const [before] = await run<{ version: string | null }>(
        "select max(version) as version from configs where tenant = $1 and kind = $2",
        [tenant, kind],
      );
      const current = Number(before?.version ?? 0);
      if (expected !== undefined && expected !== current)
        throw new HostError("changed", `version ${expected} of the ${kind} is not the current one: it is ${current}`, {
          next: "Read the current version, make the change again, and push it.",
        });
      const [row] = await run<ConfigRow>(
        `insert into configs (version, tenant, kind, body, sha256, author)
          select coalesce(max(version), 0) + 1, $1, $2, $3, $4, $5 from configs returning *`,
        [tenant, kind, body, hash("sha256", body, "hex"), boundedText(author)],
      );
      if (row === undefined) throw new HostError("internal", "PostgreSQL returned no new version");
      return toVersion(row);
    });
    this.#hints.send("config", String(pushed.version));
    return pushed;
  }

  current(tenant: number, kind: ConfigKind): Promise<ConfigVersion | undefined> {
    return this.#one("tenant = $1 and kind = $2 order by version desc limit 1", [tenant, kind]);
  }

  read(tenant: number, version: number): Promise<ConfigVersion | undefined> {
    return this.#one("tenant = $1 and version = $2", [tenant, version]);
  }

  async since(tenant: number, version: number): Promise<readonly ConfigVersion[]> {
    const statement = "select * from configs where tenant = $1 and version > $2 order by version";
    return (await this.#database.run<ConfigRow>(statement, [tenant, version])).map(toVersion);
  }

  async #one(condition: string, values: readonly unknown[]): Promise<ConfigVersion | undefined> {
    const [row] = await this.#database.run<ConfigRow>(`select * from configs where ${condition}`, values);
    return row && toVersion(row);
  }
}

function toVersion({ version, at, ...row }: ConfigRow): ConfigVersion {
  return { ...row, version: Number(version), at: at.getTime() };
}
