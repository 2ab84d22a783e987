import type { SeenUser, UserStore } from "../users.ts";
import type { RunStatement } from "./database.ts";
import { boundedText, ownerValues } from "./values.ts";

export class PostgresUsers implements UserStore {
  readonly #run: RunStatement;

  constructor(run: RunStatement) {
    this.#run = run;
  }

  async seen(user: SeenUser): Promise<void> {
    await this.#run(
      `insert into users as old (tenant, principal, groups) values ($1, $2, $3)
        on conflict (tenant, principal) do update set groups = excluded.groups, seen_at = now()`,
      [...ownerValues(user), user.groups.map(boundedText)],
    );
  }

  async groupsOf(tenant: number, principals: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.#run<{ principal: string; groups: readonly string[] }>(
      "select principal, groups from users where tenant = $1 and principal = any($2)",
      [tenant, principals],
    );
    return new Map(rows.map(({ principal, groups }) => [principal, groups]));
  }
}
