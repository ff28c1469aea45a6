import { z } from "zod";

export const RefundTicket = z.object({
  orderId: z.string().min(1).max(64),
  paymentId: z.string().min(1).max(64),
  requestedAmountCents: z.number().int().positive(),
  customerEmail: z.email(),
  message: z.string().max(20_000),
});

export const Plan = z.object({ summary: z.string(), steps: z.array(z.string()) });

export const Draft = z.object({
  amountCents: z.number().int().positive(),
  reason: z.enum(["requested_by_customer", "duplicate", "fraudulent"]),
  explanation: z.string(),
});

export const Summary = z.object({ summary: z.string(), customerMessage: z.string() });
