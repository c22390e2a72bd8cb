import PdfDocument from 'pdfkit';
import { readGlyphCoverage } from './glyph-coverage.ts';
import { readFont } from './read-font.ts';
import type { PageSize } from './sizes.ts';
import type { Drawing, Shape, TextLine } from './shapes.ts';

type Pdf = InstanceType<typeof PdfDocument>;

interface PdfDetails {
  title: string;
  /** The language of the fixed texts. */
  language: string;
  link: string;
}

/**
 * One page of vector shapes under a layer of invisible text, which can be searched, selected and read out. The shapes are the
 * same as in the SVG, so the page looks the same; to a screen reader they are decoration. The QR code is also a link.
 */
export async function writePdf(drawing: Drawing, page: PageSize, details: PdfDetails): Promise<Uint8Array> {
  const { widthPoints, heightPoints } = page;
  const pdf = new PdfDocument({
    size: [widthPoints, heightPoints],
    margin: 0,
    info: { Title: details.title },
    lang: details.language,
    displayTitle: true,
    tagged: true,
    // The first version with tags for screen readers.
    pdfVersion: '1.4',
    font: null as unknown as string,
  });
  const parts: Buffer[] = [];
  pdf.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve, reject) => {
    pdf.on('end', resolve);
    pdf.on('error', reject);
  });
  pdf.scale(widthPoints / drawing.width, heightPoints / drawing.height);
  pdf.markContent('Artifact');
  for (const shape of drawing.shapes) draw(pdf, shape);
  pdf.endMarkedContent();
  addTexts(pdf, await drawing.readTexts());
  addLink(pdf, drawing, details.link);
  pdf.end();
  await ended;
  return Buffer.concat(parts);
}

function draw(pdf: Pdf, shape: Shape): void {
  if (shape.kind === 'path') {
    pdf.path(shape.path).fill(shape.fill);
    return;
  }
  const { x, y, width, height } = shape.area;
  pdf.image(Buffer.from(shape.png), x, y, { fit: [width, height], align: 'center', valign: 'center' });
}

/** Each text is a paragraph, and the first one the heading. */
function addTexts(pdf: Pdf, texts: readonly TextLine[][]): void {
  for (const { name, data } of fonts) pdf.registerFont(name, data);
  // Text rendering mode 3 (ISO 32000-1, 9.3.6) is neither filled nor stroked. pdfkit sets no mode for filled text.
  pdf.addContent('3 Tr');
  const paragraphs = texts.map((lines, index) =>
    pdf.struct(index === 0 ? 'H1' : 'P', {}, () => {
      for (const line of lines) addLine(pdf, line);
    }),
  );
  pdf.addStructure(pdf.struct('Document', {}, paragraphs));
}

/** One weight is enough for what is not seen. */
const fonts = (['latin', 'latin-ext'] as const).map((name) => {
  const data = readFont(name, 500);
  return { name, data, codePoints: readGlyphCoverage(data) };
});

function addLine(pdf: Pdf, line: TextLine): void {
  const runs = splitByFont(line.text);
  pdf.fontSize(line.size);
  const widths = runs.map(({ font, text }) => pdf.font(font.name).widthOfString(text));
  // The visible text may be of another weight and letter spacing; a selection should cover it.
  const stretch = line.width / widths.reduce((sum, width) => sum + width, 0);
  const horizontalScaling = Math.round(stretch * 10_000) / 100;
  let { x } = line;
  for (const [index, { font, text }] of runs.entries()) {
    // A constant, because @types/pdfkit does not know horizontalScaling.
    const options = { lineBreak: false, baseline: 'alphabetic', horizontalScaling } as const;
    pdf.font(font.name).text(text, x, line.baseline, options);
    x += (widths[index] ?? 0) * stretch;
  }
}

type Font = (typeof fonts)[number];

/** The parts of a line, each in the first font that has its characters. What no font has is an empty box on the page. */
function splitByFont(text: string): { font: Font; text: string }[] {
  const runs: { font: Font; text: string }[] = [];
  for (const character of text) {
    const font = fonts.find(({ codePoints }) => codePoints.has(character.codePointAt(0) ?? 0));
    if (!font) continue;
    const last = runs.at(-1);
    if (last?.font === font) last.text += character;
    else runs.push({ font, text: character });
  }
  return runs;
}

function addLink(pdf: Pdf, { qrCode }: Drawing, address: string): void {
  const link = pdf.struct('Link', { alt: address });
  pdf.addStructure(link);
  // @types/pdfkit does not know structParent.
  const options: PDFKit.Mixins.AnnotationOption & { structParent: unknown } = { structParent: link };
  pdf.link(qrCode.x, qrCode.y, qrCode.width, qrCode.height, address, options);
  link.end();
}
