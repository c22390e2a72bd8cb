/** How a merchant appears on its payers' pages. */
export interface MerchantAppearance {
  /** `#rrggbb`, dark enough for white text; null is the service's own green. */
  pageColour: string | null;
  /** Whom payers can ask: E.164, E.164 with WhatsApp, an e-mail address. */
  contactPhone: string | null;
  contactWhatsapp: string | null;
  contactEmail: string | null;
}
