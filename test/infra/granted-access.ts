import { asText, ofType, type Resource } from "./synthesized-stack.ts";

/** Role's owner → resource (with the service a key is used through) → actions, sorted. */
export type GrantedAccess = Record<string, Record<string, readonly string[]>>;

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: { readonly StringEquals?: Readonly<Record<string, unknown>> };
}

const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [value as T];

/** Everything that the template's roles may do. @throws Error for a way of granting that this walk does not see. */
export function grantedAccess(resources: ReadonlyMap<string, Resource>): GrantedAccess {
  const granted: GrantedAccess = {};
  for (const role of ofType(resources, "AWS::IAM::Role")) {
    const elsewhere = ["ManagedPolicyArns", "Policies", "PermissionsBoundary"].filter((key) => key in role.Properties);
    if (elsewhere.length > 0) throw new Error(`${role.path} has ${elsewhere.join(", ")}: expected plain policies only`);
    granted[ownerOf(role)] = {};
  }
  for (const type of ["AWS::IAM::ManagedPolicy", "AWS::IAM::UserPolicy", "AWS::IAM::RolePolicy"]) {
    if (ofType(resources, type).length > 0) throw new Error(`found a ${type}: expected AWS::IAM::Policy only`);
  }
  for (const policy of ofType(resources, "AWS::IAM::Policy")) {
    for (const reference of policy.Properties.Roles) {
      const role = resources.get(reference.Ref);
      const owner = role && granted[ownerOf(role)];
      if (!owner) throw new Error(`${policy.path} is attached to something that is no role of this template`);
      for (const statement of policy.Properties.PolicyDocument.Statement) addTo(owner, statement, resources);
    }
  }
  return granted;
}

const ownerOf = (role: Resource): string => role.path.replace(/\/Role$/u, "");

function addTo(
  owner: Record<string, readonly string[]>,
  statement: Statement,
  resources: ReadonlyMap<string, Resource>,
) {
  if (statement.Effect !== "Allow") throw new Error(`expected Allow, found ${statement.Effect}`);
  const via = statement.Condition?.StringEquals?.["kms:ViaService"];
  const through = via === undefined ? "" : ` through ${asText(via, resources).split(".")[0]}`;
  for (const resource of listOf(statement.Resource)) {
    const key = asText(resource, resources) + through;
    owner[key] = [...new Set([...(owner[key] ?? []), ...listOf(statement.Action)])].sort();
  }
}
