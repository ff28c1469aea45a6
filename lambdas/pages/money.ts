/**
 * An amount in the smallest unit of its currency, in words that name the currency: `EUR 60.00`, `JPY 6,000`. How many digits are behind the
 * point is the currency's own (ISO 4217); exact at any size.
 */
export function moneyText(smallestUnits: number, currency: string): string {
  const code = currency.toUpperCase();
  const format = new Intl.NumberFormat("en", { style: "currency", currency: code, currencyDisplay: "code" });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  const units = String(Math.abs(smallestUnits)).padStart(digits + 1, "0");
  const whole = units.slice(0, units.length - digits).replaceAll(/\B(?=(\d{3})+$)/gu, ",");
  const fraction = digits === 0 ? "" : `.${units.slice(-digits)}`;
  return `${code} ${smallestUnits < 0 ? "−" : ""}${whole}${fraction}`;
}
