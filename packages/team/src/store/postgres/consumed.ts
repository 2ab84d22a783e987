import type { ConsumedStore } from "../consumed.ts";
import type { RunStatement } from "./database.ts";
import { keyDigest, toTime } from "./values.ts";

export class PostgresConsumed implements ConsumedStore {
  readonly #run: RunStatement;

  constructor(run: RunStatement) {
    this.#run = run;
  }

  async consume(id: string, until: number): Promise<boolean> {
    const statement = "insert into consumed (id_digest, until) values ($1, $2) on conflict do nothing returning until";
    return (await this.#run(statement, [keyDigest(id), toTime(until)])).length > 0;
  }
}
