import type { SeenUser, UserStore } from "../users.ts";
import type { RunStatement } from "./database.ts";
import { boundedText, ownerValues, toTime } from "./values.ts";

export class PostgresUsers implements UserStore {
  readonly #run: RunStatement;

  constructor(run: RunStatement) {
    this.#run = run;
  }

  async seen(user: SeenUser): Promise<void> {
    await this.#run(
      `insert into users as old (tenant, principal, groups, issued_at) values ($1, $2, $3, $4)
        on conflict (tenant, principal) do update
          set groups = excluded.groups, issued_at = excluded.issued_at, seen_at = now()
          where old.issued_at is null or old.issued_at <= excluded.issued_at`,
      [...ownerValues(user), user.groups.map(boundedText), toTime(user.issuedAt)],
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
