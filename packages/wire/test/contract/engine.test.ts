/** Our engine keeps the contract. */

import { connect } from "../../src/index.ts";
import { describeContract } from "./describe-session.ts";
import { legs } from "./legs.ts";

describeContract({ name: "our engine", open: connect, differs: new Set() }, legs);
