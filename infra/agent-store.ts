import { RemovalPolicy } from "aws-cdk-lib";
import { type IKey, Key } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { envNames } from "../lambdas/env.ts";
import { ledgerTable } from "../shared/ledger/ledger-table.ts";
import { runsTable } from "../shared/runlog/runs-table.ts";
import { PayloadBucket, type PayloadAction } from "./payload-bucket.ts";
import type { PlatformFunction } from "./platform-function.ts";
import { StoreTable, type TableAccess } from "./store-table.ts";

export interface AgentStoreProps {
  /** Whether deleting a table takes a second decision. @default false */
  readonly deletionProtection?: boolean;
  /** Encrypts both tables and the bucket. @default a key of its own, rotated yearly: about 1 USD a month */
  readonly encryptionKey?: IKey;
}

/** What a function may do with what the store holds. What is left out it knows by name only. */
export interface StoreAccess {
  readonly runs?: TableAccess;
  readonly ledger?: TableAccess;
  readonly payloads?: readonly PayloadAction[];
}

/**
 * The run log, the ledger and the large values: everything that must outlive a stack. `cdk destroy` keeps all of it; deleting it is a
 * decision of its own, and the stack's output `KeptAfterDestroy` says how.
 */
export class AgentStore extends Construct {
  readonly key: IKey;
  readonly runs: StoreTable;
  readonly ledger: StoreTable;
  readonly payloads: PayloadBucket;

  constructor(scope: Construct, id: string, { deletionProtection = false, encryptionKey }: AgentStoreProps = {}) {
    super(scope, id);
    // Kept with the data: without the key nobody reads it again.
    this.key =
      encryptionKey ??
      new Key(this, "Key", {
        description: "Surefoot: run log, ledger and payloads",
        enableKeyRotation: true,
        removalPolicy: RemovalPolicy.RETAIN,
      });
    const common = { key: this.key, deletionProtection };
    this.runs = new StoreTable(this, "Runs", { ...common, schema: runsTable, environmentName: envNames.runsTable });
    this.ledger = new StoreTable(this, "Ledger", {
      ...common,
      schema: ledgerTable,
      environmentName: envNames.ledgerTable,
    });
    this.payloads = new PayloadBucket(this, "Payloads", { key: this.key });
  }

  /** Every function is told all three names, because its wiring reads them, and may do what `access` lists. */
  bindTo(fn: PlatformFunction, access: StoreAccess): void {
    this.runs.bindTo(fn, access.runs);
    this.ledger.bindTo(fn, access.ledger);
    this.payloads.bindTo(fn, access.payloads);
  }
}
