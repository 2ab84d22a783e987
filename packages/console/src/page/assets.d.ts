/** The build turns imported style sheets into one file of the page. */
declare module "*.css";
