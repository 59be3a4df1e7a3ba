//! The faults themselves: what stands in place of an operator, and of a function's result.

use proc_macro2::TokenStream;
use quote::{quote, ToTokens};
use syn::{parse_str, BinOp, Block, Expr, ReturnType, Stmt, UnOp};

/// How the operands of an operator are evaluated, where one of several operators is to join them.
pub enum Operands {
    /// Where they stand: not always, or as places.
    InPlace,
    /// Once each, before, by reference.
    Borrowed,
    /// Once each, before.
    Values,
}

pub fn operands(operator: &BinOp) -> Operands {
    match operator {
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
            Operands::Borrowed
        }
        BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => Operands::Values,
        BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) | BinOp::Shl(_) | BinOp::Shr(_) => {
            Operands::Values
        }
        _ => Operands::InPlace,
    }
}

/// Whether a block ends by leaving the one around it.
pub fn leaves(block: &Block) -> bool {
    let last = match block.stmts.last() {
        Some(Stmt::Expr(last, _)) => last,
        _ => return false,
    };
    matches!(last, Expr::Return(_) | Expr::Continue(_) | Expr::Break(_))
}

pub fn has_a_sign(operator: &UnOp) -> bool {
    matches!(operator, UnOp::Not(_) | UnOp::Neg(_))
}

/// What stands in place of an operator.
pub fn operators(operator: &BinOp) -> Vec<BinOp> {
    let others: &[&str] = match operator.to_token_stream().to_string().as_str() {
        "==" => &["!="],
        "!=" => &["=="],
        "&&" => &["||"],
        "||" => &["&&"],
        ">" => &[">=", "==", "<"],
        "<" => &["<=", "==", ">"],
        ">=" => &["<", ">"],
        "<=" => &[">", "<"],
        "+" => &["-", "*"],
        "-" => &["+", "/"],
        "*" => &["+", "/"],
        "/" => &["*", "%"],
        "%" => &["/", "+"],
        "+=" => &["-=", "*="],
        "-=" => &["+=", "/="],
        "*=" => &["+=", "/="],
        "|=" => &["&="],
        "&=" => &["|="],
        "|" => &["&", "^"],
        "&" => &["|", "^"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        _ => &[],
    };
    others.iter().map(|o| parse_str(o).expect("an operator")).collect()
}

/// What a function may give without a look at its arguments.
pub fn results(output: &ReturnType) -> Vec<TokenStream> {
    let ReturnType::Type(_, result) = output else { return vec![quote!(())] };
    let name = result.to_token_stream().to_string().replace(' ', "");
    match name.as_str() {
        "bool" => vec![quote!(true), quote!(false)],
        "i32" | "i64" | "i128" | "u32" | "u64" | "u128" | "usize" => vec![quote!(0), quote!(1)],
        "Option<bool>" => vec![quote!(None), quote!(Some(true)), quote!(Some(false))],
        "Result<()>" => vec![quote!(Ok(()))],
        "Result<bool>" => vec![quote!(Ok(true)), quote!(Ok(false))],
        _ if name.starts_with("Option<") => vec![quote!(None)],
        _ if name.starts_with("Vec<") => vec![quote!(vec![])],
        _ if name.starts_with("Result<Option<") => vec![quote!(Ok(None))],
        _ if name.starts_with("Result<Vec<") => vec![quote!(Ok(vec![]))],
        _ => vec![],
    }
}
