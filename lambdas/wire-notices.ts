import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { SNSClient } from "@aws-sdk/client-sns";
import { cachedKeyRing, type KeyRings } from "../shared/link/cached-key-ring.ts";
import { fileKeyRing } from "../shared/link/file-key-ring.ts";
import { reviewLinks } from "../shared/link/review-links.ts";
import { secretsKeyRing } from "../shared/link/secrets-key-ring.ts";
import type { Channel, Notices } from "../shared/notify/channel.ts";
import { eventBridgeChannel } from "../shared/notify/eventbridge-channel.ts";
import { fileChannel } from "../shared/notify/file-channel.ts";
import type { NoticeLog } from "../shared/notify/notice-log.ts";
import { secretsWebhookUrl } from "../shared/notify/secrets-webhook-url.ts";
import { snsChannel } from "../shared/notify/sns-channel.ts";
import { webhookChannel } from "../shared/notify/webhook-channel.ts";
import { systemClock } from "./adapters/system-clock.ts";
import { type Environment, type NoticeSettings, readApprovers, readKeyRingPlace, readNoticeSettings } from "./env.ts";

/** Tries of one request. More would take longer than whoever tells people waits; the sweep tells them again. */
const attemptsMax = 2;

export function wireKeyRings(env: Environment): KeyRings {
  const place = readKeyRingPlace(env);
  const source =
    "file" in place
      ? fileKeyRing(place.file)
      : secretsKeyRing(new SecretsManagerClient({ maxAttempts: attemptsMax }), place.secret);
  return cachedKeyRing(source, systemClock);
}

/** Who is told about approvals, and how, as the deployment says. */
export function wireNotices(env: Environment, log: NoticeLog): Notices {
  const settings = readNoticeSettings(env);
  return {
    channels: channelsOf(settings),
    links: reviewLinks(settings.publicUrl, wireKeyRings(env)),
    approvers: readApprovers(env),
    log,
  };
}

function channelsOf({ topicArn, bus, file, webhook, webhookApprover }: NoticeSettings): readonly Channel[] {
  return [
    ...(topicArn === undefined ? [] : [snsChannel(new SNSClient({ maxAttempts: attemptsMax }), topicArn)]),
    ...(bus === undefined ? [] : [eventBridgeChannel(new EventBridgeClient({ maxAttempts: attemptsMax }), bus)]),
    ...(webhook === undefined ? [] : [webhookChannel({ url: urlOf(webhook), approver: webhookApprover })]),
    ...(file === undefined ? [] : [fileChannel(file)]),
  ];
}

const urlOf = (webhook: NonNullable<NoticeSettings["webhook"]>): (() => Promise<string>) =>
  "url" in webhook
    ? () => Promise.resolve(webhook.url)
    : secretsWebhookUrl(new SecretsManagerClient({ maxAttempts: attemptsMax }), webhook.secret);
