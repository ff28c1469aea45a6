import { Aws, RemovalPolicy, Stack } from "aws-cdk-lib";
import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import { SubscriptionFilter, Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import { envNames } from "../lambdas/env.ts";
import type { PlatformFunction } from "./platform-function.ts";

export interface NoticeOptions {
  /**
   * People who are sent links of their own, and the roles each of them has: name → roles, separated by commas. One whose name is an address
   * gets mail, once they have confirmed it. @default only those whom an approval names itself
   */
  readonly approvers?: Readonly<Record<string, string>>;
  /** Bus that gets an event for each notice, for programs. @default the account's default bus */
  readonly eventBusName?: string;
  /** A chat's webhook: the Secrets Manager secret that holds its address alone. @default none */
  readonly webhookSecretName?: string;
  /** The approver in whose name everybody who reads there decides. @default nobody's: the chat gets links that ask who comes */
  readonly webhookApprover?: string;
}

export interface ApprovalNoticesProps extends NoticeOptions {
  /** Encrypts the topic and the key ring. */
  readonly key: IKey;
  /** Of the HTTP API, as people reach it. */
  readonly publicUrl: string;
}

/**
 * How people are told about approvals, and the keys that sign their links. The key ring is changed without a deployment: a key that was
 * added signs within minutes, one that was removed opens no link any more.
 */
export class ApprovalNotices extends Construct {
  readonly topic: Topic;
  readonly linkKeys: Secret;
  readonly #bus: IEventBus;
  readonly #webhook: ISecret | undefined;
  readonly #props: ApprovalNoticesProps;

  constructor(scope: Construct, id: string, props: ApprovalNoticesProps) {
    super(scope, id);
    this.#props = props;
    const { key, approvers = {}, eventBusName = "default", webhookSecretName } = props;
    this.linkKeys = new Secret(this, "LinkKeys", {
      description:
        "Surefoot: keys that sign links to approvals. Add one and name it current; remove the old one once its links may die",
      encryptionKey: key,
      // 64 of A-Z a-z 0-9, read as base64: 48 bytes.
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ current: "initial", keys: {} }),
        generateStringKey: "initial",
        passwordLength: 64,
        excludePunctuation: true,
      },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.topic = new Topic(this, "Topic", {
      displayName: "Surefoot approvals",
      masterKey: key,
      enforceSSL: true,
    });
    for (const name of Object.keys(approvers).filter(isAddress)) {
      this.topic.addSubscription(
        new EmailSubscription(name, {
          // Nobody else's links, which decide in their names.
          filterPolicy: { approver: SubscriptionFilter.stringFilter({ allowlist: [name] }) },
        }),
      );
    }
    this.#bus = EventBus.fromEventBusName(this, "Bus", eventBusName);
    this.#webhook =
      webhookSecretName === undefined ? undefined : Secret.fromSecretNameV2(this, "Webhook", webhookSecretName);
  }

  /** May tell people, with links that are signed. */
  bindTeller(fn: PlatformFunction): void {
    const { publicUrl, webhookApprover, key } = this.#props;
    this.bindReader(fn);
    fn.setEnvironment(envNames.publicUrl, publicUrl);
    fn.setEnvironment(envNames.noticeTopicArn, this.topic.topicArn);
    fn.setEnvironment(envNames.noticeBus, this.#bus.eventBusName);
    fn.allow({ actions: ["sns:Publish"], resources: [this.topic.topicArn] });
    fn.allow({ actions: ["kms:Decrypt", "kms:GenerateDataKey"], resources: [key.keyArn], conditions: through("sns") });
    fn.allow({ actions: ["events:PutEvents"], resources: [this.#bus.eventBusArn] });
    if (!this.#webhook) return;
    fn.setEnvironment(envNames.webhookSecret, this.#webhook.secretName);
    if (webhookApprover !== undefined) fn.setEnvironment(envNames.webhookApprover, webhookApprover);
    // Secrets Manager ends each ARN with six characters of its own.
    const arn = Stack.of(this).formatArn({
      service: "secretsmanager",
      resource: `secret:${this.#webhook.secretName}-??????`,
    });
    fn.allow({ actions: ["secretsmanager:GetSecretValue"], resources: [arn] });
  }

  /** May tell whether a link is good, and for whom. */
  bindReader(fn: PlatformFunction): void {
    const { key, approvers = {} } = this.#props;
    fn.setEnvironment(envNames.linkKeysSecret, this.linkKeys.secretArn);
    fn.setEnvironment(envNames.approvers, Stack.of(this).toJsonString(approvers));
    fn.allow({ actions: ["secretsmanager:GetSecretValue"], resources: [this.linkKeys.secretArn] });
    fn.allow({ actions: ["kms:Decrypt"], resources: [key.keyArn], conditions: through("secretsmanager") });
  }
}

const through = (service: "sns" | "secretsmanager") => ({
  StringEquals: { "kms:ViaService": `${service}.${Aws.REGION}.${Aws.URL_SUFFIX}` },
});

/** SNS checks addresses for itself; this only tells them from ARNs and nicknames. */
const isAddress = (name: string): boolean => /^[^\s@:]+@[^\s@:]+\.[^\s@:]+$/u.test(name);
