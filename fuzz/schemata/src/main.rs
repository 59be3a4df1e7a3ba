//! Mutant schemata: `indexing-schemata FILE...` rewrites each file so that it holds all its mutants, each behind a call of
//! `crate::mutant(number)`, and prints them: number, file, line, function and change, with tabs between.
//!
//! One build then serves all mutants. Mutated are operators, match arms and their guards, and bodies of functions whose
//! result type has an obvious value; constants and tests stay as they are. With `--claims` before the files it is instead
//! what makes a law claim more than is true: operators, integers that become greater by 1, and conditions that are left out,
//! of `&&`, of `filter`, of an `if` that leaves.

mod faults;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    parse_quote, Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprLit, ExprMatch, ExprUnary, Lit, LitInt,
};
use syn::{Pat, Signature, Stmt};

/// Letters of an operand that stand in the description of a change.
const SHOWN: usize = 32;

struct Schemata {
    /// Whether mutants are wrong claims.
    claims: bool,
    file: String,
    /// The functions around, the innermost last.
    functions: Vec<String>,
    mutants: Vec<String>,
}

impl Schemata {
    /// List a mutant; the expression that asks whether it is the chosen one.
    fn mutant(&mut self, place: Span, change: String) -> TokenStream {
        let (line, function) = (place.start().line, self.functions.join("::"));
        let number = self.mutants.len() as u32 + 1;
        self.mutants.push(format!("{number}\t{}\t{line}\t{function}\t{change}", self.file));
        quote!(crate::mutant(#number))
    }

    fn function(&mut self, signature: &Signature, block: &mut Block) {
        self.functions.push(signature.ident.to_string());
        visit_mut::visit_block_mut(self, block);
        let mut early = Vec::<Stmt>::new();
        let values = if self.claims { vec![] } else { faults::results(&signature.output) };
        for value in values {
            let chosen = self.mutant(signature.ident.span(), format!("body -> {}", plain(value.clone())));
            early.push(parse_quote!(if #chosen { return #value; }));
        }
        block.stmts.splice(0..0, early);
        self.functions.pop();
    }

    fn arm(&mut self, arm: &mut Arm, can_go: bool) {
        let pattern = text(arm.pat.span());
        if self.claims {
            visit_mut::visit_arm_mut(self, arm);
            return;
        }
        if let Some((_, guard)) = &mut arm.guard {
            let condition = text(guard.span());
            self.visit_expr_mut(guard);
            let yes = self.mutant(arm.pat.span(), format!("{pattern} if {condition} -> if true"));
            let no = self.mutant(arm.pat.span(), format!("{pattern} if {condition} -> if false"));
            **guard = parse_quote!((if #guard { !#no } else { #yes }));
        } else if can_go {
            let gone = self.mutant(arm.pat.span(), format!("{pattern} => .. -> no such arm"));
            arm.guard = Some((Default::default(), parse_quote!(!#gone)));
        }
        self.visit_expr_mut(&mut arm.body);
    }

    fn unary(&mut self, mut whole: ExprUnary) -> Expr {
        let operand = shortened(&text(whole.expr.span()), false);
        let change = format!("{}{operand} -> {operand}", plain(quote_of(&whole.op)));
        self.visit_expr_mut(&mut whole.expr);
        let (place, operand, sign) = (whole.op.span(), &whole.expr, &whole.op);
        let chosen = self.mutant(place, change);
        parse_quote!((match #operand { value => if #chosen { value } else { #sign value } }))
    }

    /// A condition that a mutant leaves out.
    fn left_out(&mut self, condition: &mut Expr) {
        let change = format!("{} -> true", shortened(&text(condition.span()), false));
        let place = condition.span();
        self.visit_expr_mut(condition);
        let chosen = self.mutant(place, change);
        *condition = parse_quote!((#chosen || #condition));
    }

    fn integer(&mut self, value: &LitInt) -> Expr {
        let one = format!("1{}", value.suffix());
        let one: LitInt = syn::parse_str(&one).expect("an integer");
        let chosen = self.mutant(value.span(), format!("{value} -> {value} + 1"));
        parse_quote!((if #chosen { #value + #one } else { #value }))
    }

    fn conjunction(&mut self, mut whole: ExprBinary) -> Expr {
        self.left_out(&mut whole.left);
        self.left_out(&mut whole.right);
        Expr::Binary(whole)
    }

    fn binary(&mut self, mut whole: ExprBinary) -> Expr {
        let others = faults::operators(&whole.op);
        let (left, right) = (text(whole.left.span()), text(whole.right.span()));
        let (left, right) = (shortened(&left, true), shortened(&right, false));
        let (sign, place) = (plain(quote_of(&whole.op)), whole.op.span());
        visit_mut::visit_expr_binary_mut(self, &mut whole);
        let chosen: Vec<TokenStream> = others
            .iter()
            .map(|o| {
                self.mutant(place, format!("{left} {sign} {right} -> {left} {} {right}", plain(quote_of(o))))
            })
            .collect();
        let (own, l, r) = (&whole.op, &whole.left, &whole.right);
        match faults::operands(own) {
            // Operands that may not be evaluated, or are places.
            faults::Operands::InPlace => parse_quote!((#(if #chosen { #l #others #r } else)* { #l #own #r })),
            // A mutant that says the same is none, where it does.
            faults::Operands::Borrowed => parse_quote!((match (&(#l), &(#r)) {
                (left, right) => {
                    let own = left #own right;
                    #(if own != (left #others right) && #chosen { !own } else)* { own }
                }
            })),
            faults::Operands::Values => parse_quote!(
                (match (#l, #r) { (left, right) => #(if #chosen { left #others right } else)* { left #own right } })
            ),
        }
    }
}

impl VisitMut for Schemata {
    fn visit_expr_mut(&mut self, e: &mut Expr) {
        match e {
            Expr::Binary(whole) if self.claims && matches!(whole.op, BinOp::And(_)) => {
                *e = self.conjunction(whole.clone())
            }
            Expr::Lit(ExprLit { lit: Lit::Int(value), .. }) if self.claims => {
                *e = self.integer(&value.clone())
            }
            Expr::Unary(whole) if faults::has_a_sign(&whole.op) => *e = self.unary(whole.clone()),
            Expr::Binary(whole) if !faults::operators(&whole.op).is_empty() => {
                *e = self.binary(whole.clone())
            }
            _ => visit_mut::visit_expr_mut(self, e),
        }
    }

    fn visit_expr_if_mut(&mut self, whole: &mut syn::ExprIf) {
        let leaves = whole.else_branch.is_none() && faults::leaves(&whole.then_branch);
        let change = format!("if {} .. -> if false", shortened(&text(whole.cond.span()), false));
        visit_mut::visit_expr_if_mut(self, whole);
        if self.claims && leaves && !matches!(*whole.cond, Expr::Let(_)) {
            let (condition, stays) = (&whole.cond, self.mutant(whole.if_token.span(), change));
            whole.cond = parse_quote!((#condition && !#stays));
        }
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        self.visit_expr_mut(&mut call.receiver);
        for argument in &mut call.args {
            match argument {
                Expr::Closure(closure) if self.claims && call.method == "filter" => {
                    self.left_out(&mut closure.body)
                }
                _ => self.visit_expr_mut(argument),
            }
        }
    }

    fn visit_expr_match_mut(&mut self, whole: &mut ExprMatch) {
        self.visit_expr_mut(&mut whole.expr);
        // Without its arm a value must reach another one: the last, if that takes all.
        let last = whole.arms.len() - 1;
        let takes_all = matches!(&whole.arms[last], Arm { pat: Pat::Wild(_), guard: None, .. });
        for (k, arm) in whole.arms.iter_mut().enumerate() {
            self.arm(arm, takes_all && k < last);
        }
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        if item.sig.constness.is_none() {
            self.function(&item.sig, &mut item.block);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            self.function(&item.sig, &mut item.block);
        }
    }

    fn visit_item_mod_mut(&mut self, item: &mut syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit_mut::visit_item_mod_mut(self, item);
        }
    }

    fn visit_expr_repeat_mut(&mut self, e: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut e.expr); // not the length, which is a constant
    }

    fn visit_item_const_mut(&mut self, _: &mut syn::ItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut syn::ItemStatic) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_attribute_mut(&mut self, _: &mut Attribute) {}
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|a| a.path().is_ident("cfg") && plain(quote_of(&a.meta)).contains("test"))
}

fn quote_of(node: &impl quote::ToTokens) -> TokenStream {
    node.to_token_stream()
}

/// Tokens without the blanks between them.
fn plain(tokens: TokenStream) -> String {
    tokens.to_string().replace(' ', "")
}

/// The text of the source, on one line.
fn text(place: Span) -> String {
    let text = place.source_text().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A long text's end, or its beginning.
fn shortened(text: &str, end: bool) -> String {
    let letters: Vec<char> = text.chars().collect();
    match letters.len().checked_sub(SHOWN) {
        None | Some(0) => text.to_owned(),
        Some(more) if end => format!("..{}", letters[more..].iter().collect::<String>()),
        Some(_) => format!("{}..", letters[..SHOWN].iter().collect::<String>()),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = std::env::args().skip(1).peekable();
    let claims = files.next_if_eq("--claims").is_some();
    let mut schemata = Schemata { claims, file: String::new(), functions: Vec::new(), mutants: Vec::new() };
    for path in files {
        let mut file = syn::parse_file(&std::fs::read_to_string(&path)?)?;
        schemata.file.clone_from(&path);
        schemata.visit_file_mut(&mut file);
        std::fs::write(&path, quote_of(&file).to_string())?;
    }
    println!("{}", schemata.mutants.join("\n"));
    Ok(())
}
