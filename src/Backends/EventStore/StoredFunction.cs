namespace Billing.Backends.EventStore;

/// <summary>Creates functions of this project in the database.</summary>
internal static class StoredFunction
{
    /// <summary>The statement that creates a function if it is missing or different. Its parameters and their meaning never change
    /// under one name, since two versions of the program run side by side during an upgrade.</summary>
    /// <param name="schema">The schema.</param>
    /// <param name="name">Its name.</param>
    /// <param name="parameters">Its parameters, each with a name and a type.</param>
    /// <param name="body">Its body in PL/pgSQL; it returns nothing.</param>
    public static string Sql(string schema, string name, (string Name, string Type)[] parameters, string body) => $"""
        do $do$ begin
            if (select prosrc from pg_proc where oid = to_regprocedure('{schema}.{name}({List(parameters.Select(p => p.Type))})'))
                is distinct from $body${body}$body$
            then
                create or replace function {schema}.{name}({List(parameters.Select(p => p.Name + " " + p.Type))})
                returns void language plpgsql as $body${body}$body$;
            end if;
        end $do$;
        """;

    private static string List(IEnumerable<string> items) => string.Join(", ", items);
}
