/** What a page says, without tags and white space, so that a test need not know how its markup divides the words. */
export function readableText(page: string): string {
  return page
    .replaceAll(/<(style|script|noscript)\b[^>]*>.*?<\/\1>/gs, '')
    .replaceAll(/<[^>]*>|\s/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
