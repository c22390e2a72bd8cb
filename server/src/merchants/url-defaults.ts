/** The addresses of payments through the API, the dashboard and links that name none; null is none. */
export interface UrlDefaults {
  defaultReturnUrl: string | null;
  defaultCancelUrl: string | null;
  defaultCallbackUrl: string | null;
}
