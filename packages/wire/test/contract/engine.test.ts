/** Our engine keeps the contract. */

import { connect } from "../../src/index.ts";
import { describeSession } from "./describe-session.ts";
import { legs } from "./legs.ts";

for (const leg of legs) describeSession({ name: "our engine", open: connect, differs: new Set() }, leg);
